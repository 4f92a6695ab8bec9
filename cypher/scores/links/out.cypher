// Return the pages that some pages link to.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, [ids it links to]] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), [(p)-[:LINKS|LEADS_TO]->(q) | id(q)]]) AS rows
