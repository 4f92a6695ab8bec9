// Return the front of the shared queue: pages in single lanes that have waited since a time, and pages in stretches of
// lanes, in the order of the index, by host.
//
// param   lanes      LIST     [lane, waiting since then or longer]
// param   stretches  LIST     [first lane, the lane after the last]
// param   limit      INTEGER  look at no more pages than this, of each lane and stretch
// param   kept       INTEGER  name at most this many pages of each host there
// column  rows       LIST     [host, [[id, lane, waiting_since], …]], once for each lane and stretch it has pages in
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  UNWIND $lanes AS r
  CALL (r) {
    MATCH (p:Page) WHERE p.queue = '*' AND p.lane = r[0] AND p.waiting_since <= r[1]
    WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
    WITH p.host AS host, collect([id(p), p.lane, p.waiting_since]) AS heads
    RETURN host, heads[..$kept] AS first
  }
  RETURN collect([host, first]) AS single
}
CALL () {
  UNWIND $stretches AS r
  CALL (r) {
    MATCH (p:Page) WHERE p.queue = '*' AND p.lane >= r[0] AND p.lane < r[1] AND p.waiting_since IS NOT NULL
    WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
    WITH p.host AS host, collect([id(p), p.lane, p.waiting_since]) AS heads
    RETURN host, heads[..$kept] AS first
  }
  RETURN collect([host, first]) AS wide
}
RETURN single + wide AS rows
