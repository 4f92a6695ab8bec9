// Pages whose lease has lapsed, the longest lapsed first.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many
// column  ids    LIST     internal ids
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.lease_until <= $now
WITH p ORDER BY p.lease_until LIMIT $limit
RETURN collect(id(p)) AS ids
