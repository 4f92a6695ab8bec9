// How deep some pages are, and what came of their last visits.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, depth, the token of the last visit or null, what came of that or null] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.depth, .last_lease, .last_outcome} AS m
RETURN collect([page, m.depth, m.last_lease, m.last_outcome]) AS rows
