// The pages of one claiming call, by its fencing token.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_lease IF NOT EXISTS FOR (p:Page) ON (p.lease)
