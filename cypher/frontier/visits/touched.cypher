// Record unclaimed visits of held pages: like visits/fetched, but the lease stays.
//
// param   rows  LIST  [id, state, status, fetched, visits, token, outcome];
//                     the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.state = row[1], p.status = row[2], p.fetched = row[3], p.visits = row[4], p.last_lease = row[5],
    p.last_outcome = row[6], p.outside_because = CASE row[1] WHEN 'outside' THEN 'scope' ELSE null END
