// The pages in a range of internal ids, as they are named.
//
// param   first  INTEGER  the first id
// param   last   INTEGER  the last id
// column  rows   LIST     [id, key, url, host, state, url_surplus or null] of each, in the order of ids
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p {.key, .url, .host, .state, .url_surplus} AS m
RETURN collect([i, m.key, m.url, m.host, m.state, m.url_surplus]) AS rows
