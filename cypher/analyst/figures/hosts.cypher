// Counts of hosts that are blocked, backed off or silent, and of the pages in the queues of hosts that may be asked now.
// Reads every host: it is sampled, now and then.
//
// param   now      FLOAT    seconds since the epoch
// param   dead     INTEGER  attempts in a row without an answer after which a host counts as dead; 0: never
// column  blocked  INTEGER  hosts that are blocked now
// column  slowed   INTEGER  hosts that are backed off after an answer 429 or 503
// column  silent   INTEGER  hosts that count as dead
// column  ready    INTEGER  pages that wait in the queue of a host that may be asked now
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (h:Host)
  RETURN count(CASE WHEN h.blocked_until > $now THEN 1 END) AS blocked, count(h.pace) AS slowed,
         count(CASE WHEN $dead > 0 AND h.unanswered >= $dead THEN 1 END) AS silent
}
CALL () {
  MATCH (h:Host) WHERE h.queued = true AND h.ready_at <= $now
  CALL (h) {
    MATCH (p:Page) WHERE p.queue = h.name
    RETURN count(p) AS waiting
  }
  RETURN coalesce(sum(waiting), 0) AS ready
}
RETURN blocked, slowed, silent, ready
