// Return resources that may be claimed now: the first of each queue whose time has come.
//
// param   lines  LIST     the lines to look at, in this order
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  queues of each line at most
// param   each   INTEGER  resources of each queue at most
// column  rows   LIST     [key, host]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $lines AS line
CALL (line) {
  MATCH (q:ResourceQueue) USING INDEX q:ResourceQueue(line, at) WHERE q.line = line AND q.at <= $now
  WITH q ORDER BY q.line, q.at LIMIT $limit
  RETURN q.key AS queue, q.host AS host
}
CALL (queue) {
  MATCH (r:Resource) USING INDEX r:Resource(queue, due_at) WHERE r.queue = queue AND r.due_at <= $now
  WITH r ORDER BY r.queue, r.due_at LIMIT $each
  RETURN r.key AS key
}
RETURN collect([key, host]) AS rows
