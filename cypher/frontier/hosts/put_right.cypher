// Replace times of hosts that lie in the future by the present time. Nothing is computed from these times.
//
// param   names  LIST   host names, sorted; the caller has locked the hosts
// param   now    FLOAT  seconds since the epoch
// rows    none
// locks   the hosts, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $names AS name
MATCH (h:Host {name: name})
WHERE h.discovered > $now OR h.robots_at > $now OR h.robots_http_at > $now OR h.robots_https_at > $now
SET h.discovered = CASE WHEN h.discovered > $now THEN $now ELSE h.discovered END,
    h.robots_at = CASE WHEN h.robots_at > $now THEN $now ELSE h.robots_at END,
    h.robots_http_at = CASE WHEN h.robots_http_at > $now THEN $now ELSE h.robots_http_at END,
    h.robots_https_at = CASE WHEN h.robots_https_at > $now THEN $now ELSE h.robots_https_at END
