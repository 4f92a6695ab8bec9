// The pages with these internal ids that are still there, as they are named.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, key, url, host, state, url_surplus or null] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p {.key, .url, .host, .state, .url_surplus} AS m
RETURN collect([i, m.key, m.url, m.host, m.state, m.url_surplus]) AS rows
