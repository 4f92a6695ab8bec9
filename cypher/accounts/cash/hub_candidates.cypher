// Return the pages whose hub cash is most worth a push.
//
// param   least  INTEGER  the lowest priority wanted
// param   fewer  INTEGER  of fewer links than that
// param   limit  INTEGER  at most this many
// column  rows   LIST     [id, priority, number of links], best first
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.hub_priority >= $least AND COUNT { (p)-[:LINKS]->() } < $fewer
WITH p ORDER BY p.hub_priority DESC LIMIT $limit
RETURN collect([id(p), p.hub_priority, COUNT { (p)-[:LINKS]->() }]) AS rows
