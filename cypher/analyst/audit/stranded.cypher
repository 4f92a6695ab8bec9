// Pages that wait in the queue of a host that does not serve one; those that wait for a budget, or to be tried again, are
// looked at elsewhere.
//
// column  names  LIST  those hosts, or ten of them
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.queue >= '' AND p.lane IS NOT NULL AND p.waiting_since IS NOT NULL AND p.queue <> '*'
  AND NOT p.queue ENDS WITH ' (budget)' AND NOT p.queue ENDS WITH ' (retry)'
WITH DISTINCT p.queue AS queue
OPTIONAL MATCH (h:Host {name: queue})
WITH queue, h WHERE h IS NULL OR (h.queued IS NULL AND h.resting IS NULL) OR h.ready_at IS NULL
RETURN collect(queue)[..10] AS names
