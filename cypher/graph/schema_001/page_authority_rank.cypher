// The best authorities without a scan.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_authority_rank IF NOT EXISTS FOR (p:Page) ON (p.authority_rank)
