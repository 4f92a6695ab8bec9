// Put pages into a state and a queue, or out of all queues; one that goes outside is not to be retried either.
//
// param   rows  LIST  [id, state, queue or null, why it is outside or null]; the caller has locked them
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.state = row[1], p.queue = row[2], p.outside_because = row[3],
    p.not_before = CASE row[1] WHEN 'outside' THEN null ELSE p.not_before END
