// Pages by the time of their last failure.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_failed IF NOT EXISTS FOR (p:Page) ON (p.failed)
