// The first pages in ranges of lanes: in each the best lane first, the oldest first in a lane.
//
// param   ones   LIST     [queue, first lane, the lane after the last]
// param   limit  INTEGER  at most this many of each
// param   wide   LIST     more such ranges
// param   few    INTEGER  at most this many of each of these
// param   deep   LIST     and more
// param   most   INTEGER  at most this many of each of these
// column  first  LIST     [[id, lane, waiting_since], …] of each of the ranges `ones`, in their order
// column  some   LIST     the same of `wide`
// column  many   LIST     the same of `deep`
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  UNWIND $ones AS r
  CALL (r) {
    MATCH (p:Page) WHERE p.queue = r[0] AND p.lane >= r[1] AND p.lane < r[2] AND p.waiting_since IS NOT NULL
    WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
    RETURN collect([id(p), p.lane, p.waiting_since]) AS heads
  }
  RETURN collect(heads) AS first
}
CALL () {
  UNWIND $wide AS r
  CALL (r) {
    MATCH (p:Page) WHERE p.queue = r[0] AND p.lane >= r[1] AND p.lane < r[2] AND p.waiting_since IS NOT NULL
    WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $few
    RETURN collect([id(p), p.lane, p.waiting_since]) AS heads
  }
  RETURN collect(heads) AS some
}
CALL () {
  UNWIND $deep AS r
  CALL (r) {
    MATCH (p:Page) WHERE p.queue = r[0] AND p.lane >= r[1] AND p.lane < r[2] AND p.waiting_since IS NOT NULL
    WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $most
    RETURN collect([id(p), p.lane, p.waiting_since]) AS heads
  }
  RETURN collect(heads) AS many
}
RETURN first, some, many
