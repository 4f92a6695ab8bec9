// The reason why a page is next, or not yet
//
// One row. `ahead` waiting pages of its queue are in lanes before its own, and `beside` in its own lane. Without a
// queue a page does not wait: it is claimed (`worker`), outside, or waits for a retry (`not_before`). `host_may` is the
// time from which politeness lets its host be asked again, which may be blocked or not answer. A page that was
// `fetched` comes back when it has aged enough, whatever is ahead of it, at the time that `graphbrain page` prints.
// With an empty url: the page that waits in front of those whose hosts may be asked. Lanes below 10,000,000 are those
// of pages that were never fetched.
//
// group     Planning
// param     url  the page's URL as it is in the graph; empty: the page in front
:param url => '';

CALL () {
  MATCH (p:Page {host: split($url, '/')[2]}) WHERE p.url = $url
  RETURN p
UNION ALL
  WITH $url AS url WHERE url = ''
  CALL (url) {
    MATCH (p:Page) WHERE p.queue = '*' AND p.lane >= 0 AND p.lane < 10000000 AND p.waiting_since IS NOT NULL AND url = ''
    WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT 1000
    OPTIONAL MATCH (h:Host {name: p.host})
    WITH p, reduce(latest = 0.0, at IN [h.next_at, h.blocked_until, h.probe_at] | CASE WHEN at > latest THEN at ELSE latest END) AS may
    WITH p, CASE WHEN may > timestamp() / 1000.0 THEN may ELSE 0.0 END AS may
    RETURN p ORDER BY may, p.lane, p.waiting_since LIMIT 1
  }
  RETURN p
}
OPTIONAL MATCH (h:Host {name: p.host})
WITH p, reduce(latest = 0.0, at IN [h.next_at, h.blocked_until, h.probe_at] | CASE WHEN at > latest THEN at ELSE latest END) AS may
RETURN p.state AS state, p.outside_because AS because, p.queue AS queue, p.lane AS lane, p.depth AS frontier_depth,
       CASE WHEN p.queue IS NOT NULL THEN COUNT { (q:Page) WHERE q.queue = p.queue AND q.lane < p.lane AND q.waiting_since IS NOT NULL } END AS ahead,
       CASE WHEN p.queue IS NOT NULL THEN COUNT { (q:Page) WHERE q.queue = p.queue AND q.lane = p.lane AND q.waiting_since IS NOT NULL } - 1 END AS beside,
       CASE WHEN p.lease_until > timestamp() / 1000.0 THEN p.worker END AS worker,
       CASE WHEN p.not_before IS NOT NULL THEN datetime({epochSeconds: toInteger(p.not_before)}) END AS not_before,
       CASE WHEN may > timestamp() / 1000.0 THEN datetime({epochSeconds: toInteger(may)}) END AS host_may,
       CASE WHEN p.fetched IS NOT NULL THEN datetime({epochSeconds: toInteger(p.fetched)}) END AS fetched,
       p.url AS url
