// The highest hub cash first: only the classic engine asks for it.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_hub_cash IF NOT EXISTS FOR (p:Page) ON (p.hub_cash)
