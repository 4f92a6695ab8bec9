// Failed pages in the order in which they are tried again.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_not_before IF NOT EXISTS FOR (p:Page) ON (p.not_before)
