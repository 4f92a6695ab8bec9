// Hosts that count pages in flight or have a queue of their own.
//
// param   names  LIST  only these hosts, or null for all
// column  rows   LIST  [name, in_flight, queued, ready_at, whether a page waits in its queue]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host)
WHERE h.name IN $names OR ($names IS NULL AND (h.in_flight <> 0 OR h.queued IS NOT NULL OR h.resting IS NOT NULL))
CALL (h) {
  OPTIONAL MATCH (p:Page) WHERE p.queue = h.name AND p.lane IS NOT NULL AND p.waiting_since IS NOT NULL
  WITH p LIMIT 1 RETURN count(p) > 0 AS waits
}
RETURN collect([h.name, coalesce(h.in_flight, 0), coalesce(h.queued, h.resting, false), h.ready_at, waits]) AS rows
