// Lock pages that a worker holds or held, and read their leases.
//
// param   ids   LIST  internal ids, sorted
// column  rows  LIST  [id, key, host, lease, lease_until, counted, last_lease, state, last_outcome, lane, counted_at, charged,
//                     was_fetched, is_failing]; `counted_at`: an address or null; `was_fetched`: ever; `is_failing`: its last
//                     visit failed
// rows    one
// locks   the pages, in order of ids
// mode    write
// retry   safe   writes nothing
UNWIND $ids AS i
MATCH (locked:Page) WHERE id(locked) = i
SET locked:Page
WITH collect(id(locked)) AS held
UNWIND held AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), p.key, p.host, p.lease, p.lease_until, coalesce(p.counted, false), p.last_lease, p.state,
                p.last_outcome, p.lane, p.counted_at, coalesce(p.charged, false), p.first_fetched IS NOT NULL,
                p.failing_since IS NOT NULL]) AS rows
