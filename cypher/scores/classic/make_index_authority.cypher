// Make the index on authority cash, which only the classic engine reads.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_authority_cash IF NOT EXISTS FOR (p:Page) ON (p.authority_cash)
