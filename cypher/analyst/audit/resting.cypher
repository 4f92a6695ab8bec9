// Hosts that rest until the first of their pages may be visited again.
//
// column  names  LIST  of the hosts
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host) USING INDEX h:Host(resting, ready_at) WHERE h.resting = true AND h.ready_at >= 0
RETURN collect(h.name) AS names
