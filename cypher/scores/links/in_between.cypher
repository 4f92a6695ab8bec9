// Return the pages of other hosts that link to some pages.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, [ids of other hosts that link to it]] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH p, p.host AS host
RETURN collect([id(p), [(p)<-[:LINKS|LEADS_TO]-(q) WHERE q.host <> host | id(q)]]) AS rows
