// Authority cash worth a push.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_authority_priority IF NOT EXISTS FOR (p:Page) ON (p.authority_priority)
