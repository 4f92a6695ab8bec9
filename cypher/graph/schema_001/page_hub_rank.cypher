// The best hubs without a scan.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_hub_rank IF NOT EXISTS FOR (p:Page) ON (p.hub_rank)
