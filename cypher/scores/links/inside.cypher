// Return the links of some pages inside their host.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, [ids of its host that it links to]] of each that has such links
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
// Not in one pattern: in a small graph its plan uses the index of hosts, and stays in use for a while as the graph grows.
WITH p, p.host AS host
MATCH (p)-[:LINKS|LEADS_TO]->(q) WHERE q.host = host
WITH id(p) AS page, collect(id(q)) AS targets
RETURN collect([page, targets]) AS rows
