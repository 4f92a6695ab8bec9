// Return the pages that some pages link to or redirect to, and the aliases that they name in their links.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, [ids it links or redirects to], [ids of aliases it names]] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), [(p)-[:LINKS|LEADS_TO|REDIRECTS_TO]->(q) | id(q)], CASE WHEN p.spells THEN [(p)-[:SPELLS]->(a) | id(a)] ELSE [] END]) AS rows
