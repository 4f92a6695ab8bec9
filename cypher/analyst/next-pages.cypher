// The pages that will be claimed next
//
// The first rows are claimed first. `host_may` is the time from which politeness lets the page's host be asked, empty
// for now: a host that has just been asked, does not answer, or is blocked comes later. Among pages whose hosts may be
// asked at the same time a smaller lane goes before a larger one, and within a lane the page that has waited longest.
// Pages that are visited again, under the order `optimal`, come at their time, which `graphbrain page` prints.
// `frontier_depth` is the frontier's own depth. Lanes below 10,000,000 are those of pages that were never fetched.
//
// group     Planning
// param     limit  how many pages
:param limit => 20;

CALL () {
  MATCH (p:Page)
  WHERE p.queue = '*' AND p.lane >= 0 AND p.lane < 10000000 AND p.waiting_since <= timestamp() / 1000.0
  RETURN p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
UNION
  MATCH (h:Host) WHERE h.queued = true OR h.resting = true
  CALL (h) {
    MATCH (p:Page)
    WHERE p.queue = h.name AND p.lane >= 0 AND p.lane < 10000000 AND p.waiting_since <= timestamp() / 1000.0
    RETURN p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
  }
  RETURN p
}
OPTIONAL MATCH (h:Host {name: p.host})
WITH p, reduce(latest = 0.0, at IN [h.next_at, h.blocked_until, h.probe_at] | CASE WHEN at > latest THEN at ELSE latest END) AS may
WITH p, CASE WHEN may > timestamp() / 1000.0 THEN may END AS may
ORDER BY coalesce(may, 0.0), p.lane, p.waiting_since LIMIT $limit
RETURN p.depth AS frontier_depth, p.lane AS lane, p.authority_history + p.authority_cash AS authority,
       datetime({epochSeconds: toInteger(p.waiting_since)}) AS waiting_since,
       CASE WHEN may IS NOT NULL THEN datetime({epochSeconds: toInteger(may)}) END AS host_may, p.url AS url
ORDER BY coalesce(may, 0.0), p.lane, p.waiting_since
