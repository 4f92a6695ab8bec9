// Return the pages that link to some pages.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, [ids that link to it]] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), [(p)<-[:LINKS|LEADS_TO]-(q) | id(q)]]) AS rows
