// Aliases, and pages that were given up, that are to be looked at again by now and that no worker holds, the longest due
// first.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many
// column  rows   LIST     [id, host, is_ready]; `is_ready`: the host seems to be ready
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.recheck_at <= $now AND p.lease IS NULL
WITH p ORDER BY p.recheck_at LIMIT $limit
OPTIONAL MATCH (h:Host {name: p.host})
RETURN collect([id(p), p.host, coalesce(h.next_at, 0.0) <= $now AND coalesce(h.blocked_until, 0.0) <= $now]) AS rows
