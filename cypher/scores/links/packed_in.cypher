// Return the links to some pages, packed: a row costs fifty times as much as a list item.
//
// param   ids    LIST  internal ids, at most 65,536
// column  links  LIST  (place of the target among ids) · 2^47 + internal id of the source, in no order
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range(0, size($ids) - 1) AS n
WITH n, $ids[n] AS i
MATCH (p)-[:LINKS|LEADS_TO]->(q) WHERE id(q) = i
RETURN collect(n * 140737488355328 + id(p)) AS links
