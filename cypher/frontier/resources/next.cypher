// The queues of a line in the order in which their first resource can be claimed.
//
// param   line   STRING   the line
// param   limit  INTEGER  at most this many
// column  rows   LIST     [when, host]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (q:ResourceQueue) USING INDEX q:ResourceQueue(line, at) WHERE q.line = $line AND q.at >= 0
WITH q ORDER BY q.line, q.at LIMIT $limit
RETURN collect([q.at, q.host]) AS rows
