// The first pages in ranges of lanes: in each the best lane first, the oldest first in a lane.
//
// param   ranges  LIST     [queue, first lane, the lane after the last]
// param   limit   INTEGER  at most this many of each
// param   deep    LIST     more such ranges
// param   most    INTEGER  at most this many of each of these
// column  rows    LIST     [[id, lane, waiting_since], …] of each range, in their order; then of each of the deep ones
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  UNWIND $ranges AS r
  CALL (r) {
    MATCH (p:Page) WHERE p.queue = r[0] AND p.lane >= r[1] AND p.lane < r[2] AND p.waiting_since IS NOT NULL
    WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
    RETURN collect([id(p), p.lane, p.waiting_since]) AS heads
  }
  RETURN collect(heads) AS first
}
CALL () {
  UNWIND $deep AS r
  CALL (r) {
    MATCH (p:Page) WHERE p.queue = r[0] AND p.lane >= r[1] AND p.lane < r[2] AND p.waiting_since IS NOT NULL
    WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $most
    RETURN collect([id(p), p.lane, p.waiting_since]) AS heads
  }
  RETURN collect(heads) AS last
}
RETURN first + last AS rows
