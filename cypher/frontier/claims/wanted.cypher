// Pages that were asked for by hand and that no worker holds, the longest asked for first.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many
// column  rows   LIST     [id, waiting_since, host, is_ready, waits, retries]; `is_ready`: the host seems to be ready;
//                         `waits`: the page waits in a queue; `retries`: it waits to be tried again
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.wanted_at >= 0 AND p.lease IS NULL
WITH p ORDER BY p.wanted_at LIMIT $limit
OPTIONAL MATCH (h:Host {name: p.host})
RETURN collect([id(p), coalesce(p.waiting_since, 0.0), p.host,
                coalesce(h.next_at, 0.0) <= $now AND coalesce(h.blocked_until, 0.0) <= $now,
                p.queue IS NOT NULL, p.not_before IS NOT NULL]) AS rows
