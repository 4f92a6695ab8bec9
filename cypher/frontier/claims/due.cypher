// Failed pages whose time to be tried again has come.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many
// column  ids    LIST     internal ids
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.not_before <= $now
WITH p ORDER BY p.not_before LIMIT $limit
RETURN collect(id(p)) AS ids
