// The best waiting pages of the shared queue, in the order of the index: best lane first, oldest first in a lane; but
// first those that are wanted at once (lane 0), from the moment on at which they are.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many of each kind
// column  rows   LIST     [id, lane, waiting_since]
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page) WHERE p.queue = '*' AND p.lane = 0 AND p.waiting_since <= $now
  WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
  RETURN collect([id(p), p.lane, p.waiting_since]) AS asked
}
CALL () {
  MATCH (p:Page) WHERE p.queue = '*' AND p.lane >= 1 AND p.waiting_since IS NOT NULL
  WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
  RETURN collect([id(p), p.lane, p.waiting_since]) AS others
}
RETURN asked + others AS rows
