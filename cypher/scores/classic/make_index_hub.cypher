// Make the index on hub cash, which only the classic engine reads.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_hub_cash IF NOT EXISTS FOR (p:Page) ON (p.hub_cash)
