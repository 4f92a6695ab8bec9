// Since when pages wait in queues: of each queue the first that is wanted at a time of its own (lane 0), or any other.
//
// param   queues  LIST  queue names
// column  rows    LIST  [queue, waiting_since] of each that holds a page; 0 where one waits that is not in lane 0
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $queues AS queue
CALL (queue) {
  OPTIONAL MATCH (p:Page) WHERE p.queue = queue AND p.lane >= 1 AND p.waiting_since IS NOT NULL
  WITH p LIMIT 1
  RETURN count(p) > 0 AS waits
}
CALL (queue) {
  OPTIONAL MATCH (p:Page) WHERE p.queue = queue AND p.lane = 0 AND p.waiting_since IS NOT NULL
  WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT 1
  RETURN p.waiting_since AS asked
}
WITH queue, CASE WHEN waits THEN 0.0 ELSE asked END AS since WHERE since IS NOT NULL
RETURN collect([queue, since]) AS rows
