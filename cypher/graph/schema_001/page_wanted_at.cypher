// Pages that were asked for by hand and have not been visited since, the longest asked for first.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_wanted_at IF NOT EXISTS FOR (p:Page) ON (p.wanted_at)
