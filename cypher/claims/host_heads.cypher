// The best waiting pages of hosts that have a queue of their own and may be visited, the longest ready first.
//
// param   now       FLOAT    seconds since the epoch
// param   hosts     INTEGER  at most this many hosts
// param   per_host  INTEGER  at most this many pages of each
// column  rows      LIST     [host, ready_at, [[id, lane], …]]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host) WHERE h.queued = true AND h.ready_at <= $now
WITH h ORDER BY h.queued, h.ready_at LIMIT $hosts
CALL (h) {
  MATCH (p:Page) WHERE p.queue = h.name AND p.lane >= 0 AND p.waiting_since IS NOT NULL
  WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $per_host
  RETURN collect([id(p), p.lane]) AS heads
}
RETURN collect([h.name, h.ready_at, heads]) AS rows
