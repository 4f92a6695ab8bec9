// How deep some pages are.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, depth] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), p.depth]) AS rows
