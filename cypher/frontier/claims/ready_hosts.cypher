// Hosts that have a queue of their own and may be visited: those whose pages wait for the host alone, and those that
// have rested until the first of their pages may be visited again; of both kinds the longest ready first. And hosts that
// wait for a place among those that are probed, the longest waiting first: they, or those that have their robots.txt, are
// ill.
//
// The indexes are named: to the planner, of an index that is empty, as these may be, all ways are equally good.
// A host that another transaction takes out of its queue meanwhile has no `ready_at` any more, and is left out.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many of each kind
// param   most   INTEGER  at most this many hosts that wait so
// param   budget INTEGER  pages fetched for the first time of a host that has no budget of its own; 0 is no limit
// column  rows   LIST     [ready_at, name, whether it has pages that wait for its budget, and room for one; whether pages
//                         wait whose last visit failed; claims since one of these; how often in a row it has failed]
// column  waiting LIST    the same of hosts that wait so, with the moment since when in the place of ready_at
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (h:Host) USING INDEX h:Host(queued, ready_at) WHERE h.queued = true AND h.ready_at <= $now
  WITH h ORDER BY h.queued, h.ready_at LIMIT $limit
  RETURN collect(h) AS ready
}
CALL () {
  MATCH (h:Host) USING INDEX h:Host(resting, ready_at) WHERE h.resting = true AND h.ready_at <= $now
  WITH h ORDER BY h.resting, h.ready_at LIMIT $limit
  RETURN collect(h) AS rested
}
CALL () {
  MATCH (h:Host) USING INDEX h:Host(probing, place_since) WHERE h.probing = false AND h.place_since <= $now
  WITH h ORDER BY h.probing, h.place_since LIMIT $most
  RETURN collect(h) AS waiting
}
UNWIND [[false, ready + rested], [true, waiting]] AS part
UNWIND part[1] AS h
WITH part[0] AS waits,
     h {.ready_at, .place_since, .name, .budget, .set_aside, .budget_used, .retrying, .since_retry, .failing} AS m
WITH waits, CASE WHEN waits THEN m.place_since ELSE m.ready_at END AS at, coalesce(m.budget, $budget) AS room, m
  WHERE at IS NOT NULL
WITH waits, [at, m.name, m.set_aside IS NOT NULL AND (room = 0 OR coalesce(m.budget_used, 0) < room),
             m.retrying IS NOT NULL, coalesce(m.since_retry, 0), coalesce(m.failing, 0)] AS row
RETURN collect(CASE WHEN waits THEN null ELSE row END) AS rows, collect(CASE WHEN waits THEN row END) AS waiting
