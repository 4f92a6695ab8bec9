// Put pages into a state and a queue, since when; one that goes outside is not to be retried either.
//
// param   rows  LIST  [id, state, queue or null, waiting_since, why it is outside or null, when it is tried again or null]; the caller has locked the pages, and the hosts whose
//                     queues they are
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.state = row[1], p.queue = row[2], p.waiting_since = row[3], p.outside_because = row[4],
    p.not_before = CASE row[1] WHEN 'outside' THEN null ELSE coalesce(row[5], p.not_before) END
