// Record visits that brought no page, and end their leases. A page that was asked for by hand, and whose host wants to be asked
// later, is asked for still.
//
// param   rows  LIST  [id, state, status or null, error, when it failed, errors, not_before or null, queue or null, token, outcome,
//                     refusals or null, since when it has been failing, what was wrong,
//                     when it was tried, if it waits in a queue, or null];
//                     a page for which no request was sent failed at null: what its last failure or answer was stays;
//                     the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
WITH p, row, row[4] IS NULL AS unsent, row[4] IS NULL AND coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) AS fails
SET p.state = row[1], p.status = CASE WHEN unsent THEN p.status ELSE row[2] END,
    p.error = CASE WHEN fails THEN p.error ELSE row[3] END, p.fault = CASE WHEN fails THEN p.fault ELSE row[12] END,
    p.failed = CASE WHEN unsent THEN p.failed ELSE row[4] END, p.errors = row[5], p.not_before = row[6],
    p.queue = row[7], p.last_lease = row[8], p.last_outcome = row[9], p.refusals = row[10],
    p.lease = null, p.lease_until = null, p.counted = null, p.counted_at = null, p.charged = null,
    p.parked_because = null, p.failing_since = row[11], p.untried_since = row[13],
    p.wanted_at = CASE row[9] WHEN 'slowed' THEN p.wanted_at ELSE null END
