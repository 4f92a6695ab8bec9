// Only the classic engine asks for the highest authority cash.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF EXISTS
DROP INDEX page_authority_cash IF EXISTS
