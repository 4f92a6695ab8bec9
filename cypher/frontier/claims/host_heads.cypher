// The best waiting pages of hosts that have a queue of their own, in the order of the index; but first those that are
// wanted at once (lane 0), from the moment on at which they are.
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
  MATCH (p:Page) WHERE p.queue = name AND p.lane = 0 AND p.waiting_since <= $now
  WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $per_host
  RETURN collect([id(p), p.lane, p.waiting_since]) AS asked
}
CALL (name) {
  MATCH (p:Page) WHERE p.queue = name AND p.lane >= 1 AND p.waiting_since IS NOT NULL
  WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $per_host
  RETURN collect([id(p), p.lane, p.waiting_since]) AS others
}
RETURN collect([name, (asked + others)[..$per_host]]) AS rows
