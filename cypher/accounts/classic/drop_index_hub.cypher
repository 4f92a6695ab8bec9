// Only the classic engine asks for the highest hub cash.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF EXISTS
DROP INDEX page_hub_cash IF EXISTS
