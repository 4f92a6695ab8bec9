// Pages that were chosen to try the sections that are held down, the longest untried first.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_try_at IF NOT EXISTS FOR (p:Page) ON (p.try_at)
