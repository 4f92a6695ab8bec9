// Hosts that have a queue of their own and may be visited: those whose pages wait for the host alone, and those that
// have rested until the first of their pages may be visited again; of both kinds the longest ready first.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many of each kind
// column  rows   LIST     [ready_at, name]
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (h:Host) WHERE h.queued = true AND h.ready_at <= $now
  WITH h ORDER BY h.queued, h.ready_at LIMIT $limit
  RETURN collect([h.ready_at, h.name]) AS ready
}
CALL () {
  MATCH (h:Host) WHERE h.resting = true AND h.ready_at <= $now
  WITH h ORDER BY h.resting, h.ready_at LIMIT $limit
  RETURN collect([h.ready_at, h.name]) AS rested
}
RETURN ready + rested AS rows
