// Return the next target of pages that redirect, for good or for now: one step of the way.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, id it redirects to] of those that do
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page)-[:REDIRECTS_TO|LEADS_TO]->(q:Page) WHERE id(p) = i
RETURN collect([i, id(q)]) AS rows
