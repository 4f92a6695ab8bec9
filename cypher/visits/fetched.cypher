// Record visits that brought a page, and end their leases.
//
// param   rows  LIST  [id, state, status, fetched, first_fetched, changed or null, body_hash or null, etag or null,
//                     last_modified or null, visits, changes, token, outcome]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.state = row[1], p.status = row[2], p.fetched = row[3], p.first_fetched = row[4],
    p.changed = coalesce(row[5], p.changed), p.body_hash = coalesce(row[6], p.body_hash),
    p.etag = row[7], p.last_modified = row[8], p.visits = row[9], p.changes = row[10],
    p.last_lease = row[11], p.last_outcome = row[12],
    p.errors = null, p.error = null, p.not_before = null, p.queue = null,
    p.lease = null, p.lease_until = null, p.worker = null, p.counted = null
