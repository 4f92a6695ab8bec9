// The queues of some lines, each in the order in which their first resource can be claimed.
//
// param   lines  LIST     the lines
// param   limit  INTEGER  at most this many of each
// column  rows   LIST     [line, when, host]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $lines AS line
CALL (line) {
  MATCH (q:ResourceQueue) USING INDEX q:ResourceQueue(line, at) WHERE q.line = line AND q.at >= 0
  WITH q ORDER BY q.line, q.at LIMIT $limit
  RETURN q.at AS at, q.host AS host
}
RETURN collect([line, at, host]) AS rows
