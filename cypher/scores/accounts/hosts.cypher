// Return the hosts of pages: links inside a host may weigh less.
//
// param   ids    LIST  internal ids
// column  rows   LIST  [id, host] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), p.host]) AS rows
