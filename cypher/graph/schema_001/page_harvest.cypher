// The pages of a host that wait with a factor of their section below 1.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_harvest IF NOT EXISTS FOR (p:Page) ON (p.host, p.harvest)
