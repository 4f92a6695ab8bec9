// The pages of a host without a scan.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_host IF NOT EXISTS FOR (p:Page) ON (p.host)
