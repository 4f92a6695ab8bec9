// Return pages that wait to be tried again because their last visits failed, of some hosts, the longest untried first.
//
// param   queues  LIST     queues of retries
// param   before  FLOAT    seconds since the epoch: those that were tried until then
// param   limit   INTEGER  at most this many pages of each
// column  rows    LIST     [host, [[id, lane, waiting_since, untried_since], …]] of each queue that holds any
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $queues AS queue
CALL (queue) {
  MATCH (p:Page) WHERE p.queue = queue AND p.untried_since <= $before
  WITH p ORDER BY p.queue, p.untried_since LIMIT $limit
  RETURN collect(p {.host, .lane, .waiting_since, .untried_since, id: id(p)}) AS heads
}
WITH heads WHERE size(heads) > 0
RETURN collect([heads[0].host, [m IN heads | [m.id, m.lane, m.waiting_since, m.untried_since]]]) AS rows
