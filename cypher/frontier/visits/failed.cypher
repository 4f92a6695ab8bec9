// Record visits that brought no page, and end their leases. A page that was asked for by hand, and whose host wants to be asked
// later, is asked for still.
//
// param   rows  LIST  [id, state, status or null, error, fetched, errors, not_before or null, queue or null, token, outcome,
//                     refusals or null, since when it has been failing, what was wrong,
//                     when it was tried, if it waits in a queue, or null];
//                     the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.state = row[1], p.status = row[2], p.error = row[3], p.failed = row[4], p.errors = row[5], p.not_before = row[6],
    p.queue = row[7], p.last_lease = row[8], p.last_outcome = row[9], p.refusals = row[10],
    p.lease = null, p.lease_until = null, p.counted = null, p.counted_at = null, p.charged = null,
    p.parked_because = null, p.failing_since = row[11], p.fault = row[12], p.untried_since = row[13],
    p.wanted_at = CASE row[9] WHEN 'slowed' THEN p.wanted_at ELSE null END
