// Where some pages are, and how much they matter.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, url, host, authority, state] of each that is still there
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), p.url, p.host, p.authority_history + p.authority_cash, p.state]) AS rows
