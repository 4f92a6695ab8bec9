// Write when hosts may be visited next, how many of their pages are out, and whether they have a queue of their own:
// one whose pages wait for the host alone (queued), or one in which all were visited too lately (resting).
//
// param   rows  LIST  [name, next_at, in_flight, queued or null, ready_at or null, resting or null];
//                     the caller has locked the hosts
// rows    none
// locks   the hosts, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (h:Host {name: row[0]})
SET h.next_at = row[1], h.in_flight = row[2], h.queued = row[3], h.ready_at = row[4], h.resting = row[5]
