// Hosts that are not asked, or less, and what waits in the queues of those whose time has come. Reads every host: it is
// sampled, now and then.
//
// param   now      FLOAT    seconds since the epoch
// param   dead     INTEGER  so many times in a row without an answer, and a host is taken to be dead; 0: never
// column  blocked  INTEGER  hosts that are left alone now
// column  slowed   INTEGER  hosts that are asked less often since they have answered 429 or 503
// column  silent   INTEGER  hosts that are taken to be dead
// column  ready    INTEGER  pages that wait in the queue of a host whose time has come
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
