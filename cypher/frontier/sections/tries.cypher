// Pages that were chosen to try sections that are held down, the longest untried first.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most so many
// column  rows   LIST     [id, url, host, try_at, waiting_since, whether it waits in a queue, was never fetched and counts
//                         for less, whether the host seems to be ready]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.try_at >= 0.0
WITH p ORDER BY p.try_at LIMIT $limit
OPTIONAL MATCH (h:Host {name: p.host})
RETURN collect([id(p), p.url, p.host, p.try_at, coalesce(p.waiting_since, 0.0),
                p.queue IS NOT NULL AND p.first_fetched IS NULL AND coalesce(p.harvest, 1.0) < 1.0,
                coalesce(h.next_at, 0.0) <= $now AND coalesce(h.blocked_until, 0.0) <= $now]) AS rows
