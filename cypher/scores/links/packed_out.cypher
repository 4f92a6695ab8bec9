// Return the links of some pages, packed: a row costs fifty times as much as a list item.
//
// param   ids    LIST  internal ids, at most 65,536
// column  links  LIST  (place of the source among ids) · 2^47 + internal id of the target, in no order
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range(0, size($ids) - 1) AS n
WITH n, $ids[n] AS i
MATCH (p)-[:LINKS|LEADS_TO]->(q) WHERE id(p) = i
RETURN collect(n * 140737488355328 + id(q)) AS links
