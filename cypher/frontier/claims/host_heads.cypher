// The best waiting pages of hosts that have a queue of their own.
//
// param   names     LIST     the hosts
// param   now       FLOAT    seconds since the epoch
// param   per_host  INTEGER  at most this many pages of each
// column  rows      LIST     [host, [[id, lane, waiting_since], …]] in the order of the names
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
CALL (name) {
  MATCH (p:Page) WHERE p.queue = name AND p.lane >= 0 AND p.waiting_since <= $now
  WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $per_host
  RETURN collect([id(p), p.lane, p.waiting_since]) AS heads
}
RETURN collect([name, heads]) AS rows
