// The pages that have these keys, as they are named.
//
// param   keys  LIST  page keys, sorted
// column  rows  LIST  [id, key, url, host, state, url_surplus or null] of each that is there
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (p:Page {key: key})
WITH id(p) AS i, p {.key, .url, .host, .state, .url_surplus} AS m
RETURN collect([i, m.key, m.url, m.host, m.state, m.url_surplus]) AS rows
