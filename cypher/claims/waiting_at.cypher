// Which queues hold a page?
//
// param   queues  LIST  queue names
// column  found   LIST  those that hold one
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $queues AS queue
CALL (queue) {
  MATCH (p:Page) WHERE p.queue = queue AND p.lane >= 0 AND p.waiting_since IS NOT NULL
  RETURN true AS waits LIMIT 1
}
RETURN collect(queue) AS found
