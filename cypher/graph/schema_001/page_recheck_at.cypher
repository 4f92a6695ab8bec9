// Aliases in the order in which they are looked at again.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_recheck_at IF NOT EXISTS FOR (p:Page) ON (p.recheck_at)
