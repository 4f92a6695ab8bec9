// Return the URLs of some pages.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, url] of each existing page
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), p.url]) AS rows
