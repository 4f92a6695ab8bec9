// Flow worth passing on again.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_flow_priority IF NOT EXISTS FOR (p:Page) ON (p.flow_priority)
