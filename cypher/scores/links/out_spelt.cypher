// Return the pages that some pages link to, and the aliases that they name in their links.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, [ids it links to], [ids of aliases it names]] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), [(p)-[:LINKS]->(q) | id(q)], CASE WHEN p.spells THEN [(p)-[:SPELLS]->(a) | id(a)] ELSE [] END]) AS rows
