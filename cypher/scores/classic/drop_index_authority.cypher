// Drop the index on authority cash, which only the classic engine reads.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF EXISTS
DROP INDEX page_authority_cash IF EXISTS
