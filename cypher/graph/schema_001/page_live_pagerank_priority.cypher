// Live PageRank worth passing on again.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_live_pagerank_priority IF NOT EXISTS FOR (p:Page) ON (p.live_pagerank_priority)
