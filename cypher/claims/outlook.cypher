// What is to come when there is nothing to claim now, beside what waits in the shared queue.
//
// column  lease_until FLOAT    when the first lease lapses, or null
// column  not_before  FLOAT    when the first failed page is tried again, or null
// column  ready_at    FLOAT    when the first host whose pages wait for it alone may be visited, or null
// column  rested_at   FLOAT    when the first host whose pages all were visited too lately may be visited, or null
// column  recheck_at  FLOAT   when the first alias can be looked at again, as far as its host says, or null
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page) WHERE p.lease_until >= 0
  WITH p ORDER BY p.lease_until LIMIT 1 RETURN head(collect(p.lease_until)) AS lease_until
}
CALL () {
  MATCH (p:Page) WHERE p.not_before >= 0
  WITH p ORDER BY p.not_before LIMIT 1 RETURN head(collect(p.not_before)) AS not_before
}
CALL () {
  MATCH (h:Host) USING INDEX h:Host(queued, ready_at) WHERE h.queued = true AND h.ready_at >= 0
  WITH h ORDER BY h.queued, h.ready_at LIMIT 1 RETURN head(collect(h.ready_at)) AS ready_at
}
CALL () {
  MATCH (h:Host) USING INDEX h:Host(resting, ready_at) WHERE h.resting = true AND h.ready_at >= 0
  WITH h ORDER BY h.resting, h.ready_at LIMIT 1 RETURN head(collect(h.ready_at)) AS rested_at
}
CALL () {
  MATCH (p:Page) WHERE p.recheck_at >= 0 AND p.lease IS NULL
  WITH p ORDER BY p.recheck_at LIMIT 50
  OPTIONAL MATCH (h:Host {name: p.host})
  WITH [p.recheck_at, coalesce(h.next_at, 0.0), coalesce(h.blocked_until, 0.0)] AS moments
  RETURN min(reduce(last = 0.0, at IN moments | CASE WHEN at > last THEN at ELSE last END)) AS recheck_at
}
RETURN lease_until, not_before, ready_at, rested_at, recheck_at
