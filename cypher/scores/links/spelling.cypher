// Return the aliases that pages name in their links, and the links that exist only because of these.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, [ids of aliases it names], [ids it links to only through these]] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([i, [(p)-[:SPELLS]->(a) | id(a)], [(p)-[r:LINKS|LEADS_TO]->(q) WHERE r.via | id(q)]]) AS rows
