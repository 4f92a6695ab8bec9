// Drop the index on hub cash, which only the classic engine reads.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF EXISTS
DROP INDEX page_hub_cash IF EXISTS
