// Return the links of others to a page, those with the best hub at the other end first.
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
MATCH (p)<-[r:LINKS]-(q:Page)
WITH r, q {.hub_history, .hub_cash} AS m
WITH r ORDER BY m.hub_history + m.hub_cash DESC, id(r) LIMIT $limit
RETURN collect(id(r)) AS ids
