// Return what can be claimed later, if nothing can be claimed now: the first of each kind, the soonest first. The
// shared queue is not read.
//
// param   limit  INTEGER  at most this many of each kind
// column  failed LIST     [when it is tried again, host, when it failed, was it never fetched] of pages
// column  queued LIST     [when it may be visited, name] of hosts whose pages wait for the host alone
// column  rested LIST     [when it may be visited, name] of hosts that wait for longer: all their pages were visited too
//                         lately, or they do not answer
// column  aliases LIST    [when it is looked at again, host] of aliases
// column  waiting LIST    [since when, name] of hosts that wait for a place among those that are probed
// column  leased LIST     [when the lease lapses, host, its token, whether the page waits again then] of pages
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page) WHERE p.not_before >= 0
  WITH p ORDER BY p.not_before LIMIT $limit RETURN collect([p.not_before, p.host, p.failed, p.first_fetched IS NULL]) AS failed
}
CALL () {
  MATCH (h:Host) USING INDEX h:Host(queued, ready_at) WHERE h.queued = true AND h.ready_at >= 0
  WITH h ORDER BY h.queued, h.ready_at LIMIT $limit RETURN collect([h.ready_at, h.name]) AS queued
}
CALL () {
  MATCH (h:Host) USING INDEX h:Host(resting, ready_at) WHERE h.resting = true AND h.ready_at >= 0
  WITH h ORDER BY h.resting, h.ready_at LIMIT $limit RETURN collect([h.ready_at, h.name]) AS rested
}
CALL () {
  MATCH (p:Page) WHERE p.recheck_at >= 0 AND p.lease IS NULL
  WITH p ORDER BY p.recheck_at LIMIT $limit RETURN collect([p.recheck_at, p.host]) AS aliases
}
CALL () {
  MATCH (h:Host) USING INDEX h:Host(probing, place_since) WHERE h.probing = false AND h.place_since >= 0
  WITH h ORDER BY h.probing, h.place_since LIMIT $limit RETURN collect([h.place_since, h.name]) AS waiting
}
CALL () {
  MATCH (p:Page) WHERE p.lease_until >= 0
  WITH p ORDER BY p.lease_until LIMIT $limit RETURN collect([p.lease_until, p.host, p.lease, p.state IN ['frontier', 'known']]) AS leased
}
RETURN failed, queued, rested, aliases, waiting, leased
