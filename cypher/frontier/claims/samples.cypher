// One waiting page of each of some queues, from a lane between that of the first page and that of the last: of the pages
// in the lanes up to it the last. A host that fails is asked for it, since the pages that failed were the first ones.
//
// param   rows  LIST     [queue, part of the way from the first lane to the last, 0 to 1]
// param   end   INTEGER  look at lanes below this
// column  rows  LIST     [queue, [id, lane, waiting_since]] of each queue that has a page there
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $rows AS r
CALL (r) {
  MATCH (p:Page) WHERE p.queue = r[0] AND p.lane >= 1 AND p.lane < $end AND p.waiting_since IS NOT NULL
  WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT 1
  RETURN p.lane AS first
}
CALL (r) {
  MATCH (p:Page) WHERE p.queue = r[0] AND p.lane >= 1 AND p.lane < $end AND p.waiting_since IS NOT NULL
  WITH p ORDER BY p.queue DESC, p.lane DESC, p.waiting_since DESC LIMIT 1
  RETURN p.lane AS last
}
WITH r, first + toInteger(r[1] * (last - first)) AS middle
CALL (r, middle) {
  MATCH (p:Page) WHERE p.queue = r[0] AND p.lane >= 1 AND p.lane <= middle AND p.waiting_since IS NOT NULL
  WITH p ORDER BY p.queue DESC, p.lane DESC, p.waiting_since DESC LIMIT 1
  RETURN [id(p), p.lane, p.waiting_since] AS page
}
RETURN collect([r[0], page]) AS rows
