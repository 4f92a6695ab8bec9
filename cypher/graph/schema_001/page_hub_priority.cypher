// Hub cash worth a push.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_hub_priority IF NOT EXISTS FOR (p:Page) ON (p.hub_priority)
