// What is needed to judge whether pages are in the scope.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, url, state, host, fetched or not] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), p.url, p.state, p.host, p.first_fetched IS NOT NULL]) AS rows
