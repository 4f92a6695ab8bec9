// The links inside their host of some pages.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, [ids of its host that it links to]] of each that has such links
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page)-[:LINKS]->(q:Page) WHERE id(p) = i AND p.host = q.host
WITH id(p) AS page, collect(id(q)) AS targets
RETURN collect([page, targets]) AS rows
