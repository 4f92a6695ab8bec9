// The hosts of some pages: each is named once.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [host, ids of those of its pages that are there]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH p.host AS host, collect(id(p)) AS pages
RETURN collect([host, pages]) AS rows
