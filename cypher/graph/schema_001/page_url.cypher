// Pages by their URL, for users' own statements. The crawl finds a page by its key.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_url IF NOT EXISTS FOR (p:Page) ON (p.url)
