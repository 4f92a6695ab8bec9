// Resources whose lease has lapsed, the longest lapsed first.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many
// column  keys   LIST     their keys
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (r:Resource) WHERE r.lease_until <= $now
WITH r ORDER BY r.lease_until LIMIT $limit
RETURN collect(r.key) AS keys
