// What is known of the last visits of locked pages.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// column  rows  LIST  [id, url, state, host, lease, counted, last_lease, last_outcome, fetched or null, first_fetched or null,
//                     body_hash or null, visits, changes, errors]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), p.url, p.state, p.host, p.lease, coalesce(p.counted, false), p.last_lease, p.last_outcome, p.fetched,
                p.first_fetched, p.body_hash, coalesce(p.visits, 0), coalesce(p.changes, 0), coalesce(p.errors, 0)]) AS rows
