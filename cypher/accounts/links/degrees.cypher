// How many pages some pages link to.
//
// param   ids    LIST  internal ids
// column  rows   LIST  [id, how many] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([i, COUNT { (p)-[:LINKS]->() }]) AS rows
