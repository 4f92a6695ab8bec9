// The properties of pages that may become one.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, properties, id of the page it redirects to or null] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([i, properties(p), head([(p)-[:REDIRECTS_TO]->(q) | id(q)])]) AS rows
