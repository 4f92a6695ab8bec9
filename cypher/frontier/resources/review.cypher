// Write of queues when their first resource can be claimed: when it is due, and not before the host may be asked. A queue
// without resources is not created.
//
// param   rows  LIST  in order of the keys: [key, line, host, from when on the host may be asked]; the caller has locked the
//                     hosts
// rows    none
// locks   the queues, which are written under the locks of their hosts alone
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
OPTIONAL MATCH (there:ResourceQueue {key: row[0]})
WITH row, there, COLLECT {
  MATCH (r:Resource) USING INDEX r:Resource(queue, due_at) WHERE r.queue = row[0] AND r.due_at >= 0
  WITH r ORDER BY r.queue, r.due_at LIMIT 1
  RETURN r.due_at
} AS first
WHERE there IS NOT NULL OR first[0] IS NOT NULL
MERGE (q:ResourceQueue {key: row[0]})
ON CREATE SET q.line = row[1], q.host = row[2]
SET q.at = CASE WHEN first[0] < row[3] THEN row[3] ELSE first[0] END
