// Pages that were asked for by hand and have not been visited since: where they wait, or until when a worker holds them.
//
// param   limit  INTEGER  at most this many, the longest asked for first
// column  rows   LIST     [host, whether it waits in a queue, when its lease lapses or null, when it is tried
//                       again or null]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.wanted_at >= 0
WITH p ORDER BY p.wanted_at LIMIT $limit
RETURN collect([p.host, p.queue IS NOT NULL, p.lease_until, p.not_before]) AS rows
