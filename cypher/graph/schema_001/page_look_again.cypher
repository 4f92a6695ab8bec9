// Pages whose in-links are to be looked at: aliases that have some, pages that have lost their last or got one again.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_look_again IF NOT EXISTS FOR (p:Page) ON (p.look_again)
