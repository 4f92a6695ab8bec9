// Pages whose first visit has still to be learned from, the oldest first.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_unlearned IF NOT EXISTS FOR (p:Page) ON (p.unlearned)
