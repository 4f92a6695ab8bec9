// Return the links of a page to others, those with the best authority at the other end first.
//
// param   key    STRING   the page's key
// param   limit  INTEGER  at most this many
// column  ids    LIST     internal ids of the links
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page {key: $key})
MATCH (p)-[r:LINKS]->(q:Page)
WITH r, q {.authority_history, .authority_cash} AS m
WITH r ORDER BY m.authority_history + m.authority_cash DESC, id(r) LIMIT $limit
RETURN collect(id(r)) AS ids
