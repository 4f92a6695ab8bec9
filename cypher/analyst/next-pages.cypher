// Which pages will be handed out next, politeness aside
//
// The first rows are handed out first, as far as politeness lets their hosts be asked: `host_may` is when, empty for
// now. A smaller lane goes before a larger one, and within a lane whoever waits longer. Pages that are visited again,
// under the order `optimal`, come when it is their turn: `graphbrain page` says when.
// Lanes below 10,000,000 are those of pages that were never fetched.
//
// group     Planning
// param     limit  how many pages
:param limit => 20;

CALL () {
  MATCH (p:Page)
  WHERE p.queue = '*' AND p.lane >= 0 AND p.lane < 10000000 AND p.waiting_since <= timestamp() / 1000.0
  RETURN p, null AS next_at ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
UNION ALL
  MATCH (h:Host) WHERE h.queued = true
  CALL (h) {
    MATCH (p:Page)
    WHERE p.queue = h.name AND p.lane >= 0 AND p.lane < 10000000 AND p.waiting_since <= timestamp() / 1000.0
    RETURN p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
  }
  RETURN p, h.next_at AS next_at
}
RETURN p.depth AS depth, p.lane AS lane, p.authority_history + p.authority_cash AS authority,
       datetime({epochSeconds: toInteger(p.waiting_since)}) AS waiting_since,
       CASE WHEN next_at > timestamp() / 1000.0 THEN datetime({epochSeconds: toInteger(next_at)}) END AS host_may,
       p.url AS url
ORDER BY p.lane, p.waiting_since LIMIT $limit
