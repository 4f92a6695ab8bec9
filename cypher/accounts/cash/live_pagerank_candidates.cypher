// Return the pages whose live PageRank is most worth being passed on again.
//
// param   least  INTEGER  the lowest priority wanted
// param   fewer  INTEGER  of fewer links than that
// param   limit  INTEGER  at most this many
// column  rows   LIST     [id, priority, number of links], best first
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.live_pagerank_priority >= $least AND COUNT { (p)-[:LINKS]->() } < $fewer
WITH p ORDER BY p.live_pagerank_priority DESC LIMIT $limit
RETURN collect([id(p), p.live_pagerank_priority, COUNT { (p)-[:LINKS]->() }]) AS rows
