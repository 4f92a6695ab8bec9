// The relevance of some pages.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, relevance] of each that has one
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i AND p.relevance IS NOT NULL
RETURN collect([id(p), p.relevance]) AS rows
