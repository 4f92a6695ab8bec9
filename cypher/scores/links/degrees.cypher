// Return the number of pages that some pages link to.
//
// param   ids    LIST  internal ids
// column  rows   LIST  [id, number] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([i, COUNT { (p)-[:LINKS|LEADS_TO]->() }]) AS rows
