// Pages whose last visit failed and that wait, by queue, the longest untried first.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_untried IF NOT EXISTS FOR (p:Page) ON (p.queue, p.untried_since)
