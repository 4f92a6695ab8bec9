// What is to come when there is nothing to claim now.
//
// column  waiting     BOOLEAN  does any page wait in any queue?
// column  lease_until FLOAT    when the first lease lapses, or null
// column  not_before  FLOAT    when the first failed page is tried again, or null
// column  ready_at    FLOAT    when the first host with a queue of its own may be visited, or null
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page) WHERE p.queue >= '' AND p.lane IS NOT NULL AND p.waiting_since IS NOT NULL
  WITH p LIMIT 1 RETURN count(p) > 0 AS waiting
}
CALL () {
  MATCH (p:Page) WHERE p.lease_until >= 0
  WITH p ORDER BY p.lease_until LIMIT 1 RETURN head(collect(p.lease_until)) AS lease_until
}
CALL () {
  MATCH (p:Page) WHERE p.not_before >= 0
  WITH p ORDER BY p.not_before LIMIT 1 RETURN head(collect(p.not_before)) AS not_before
}
CALL () {
  MATCH (h:Host) WHERE h.queued = true AND h.ready_at >= 0
  WITH h ORDER BY h.queued, h.ready_at LIMIT 1 RETURN head(collect(h.ready_at)) AS ready_at
}
RETURN waiting, lease_until, not_before, ready_at
