// Pages by the key of the page that their canonical names, where links follow canonicals.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_canonical_key IF NOT EXISTS FOR (p:Page) ON (p.canonical_key)
