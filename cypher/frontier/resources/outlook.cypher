// The first leases of resources of some kinds to lapse.
//
// param   kinds  LIST     the kinds
// param   limit  INTEGER  at most this many
// column  rows   LIST     [when the lease lapses, host, its token, true: it waits again then]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (r:Resource) WHERE r.lease_until >= 0 AND r.kind IN $kinds
WITH r ORDER BY r.lease_until LIMIT $limit
RETURN collect([r.lease_until, r.host, r.lease, true]) AS rows
