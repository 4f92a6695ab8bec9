// How many claims are out, of pages and of resources: of ill hosts, and of all; and how many hosts wait for others to be
// reported first. Claims that have lapsed and have not been swept yet count for their hosts, but not among all.
//
// param   now     FLOAT    seconds since the epoch
// param   most    INTEGER  count so many waiting hosts at most
// column  probes  INTEGER  claims out of ill hosts
// column  out     INTEGER  claims out
// column  waiting INTEGER  hosts that wait
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (h:Host) WHERE h.probing = true
  RETURN coalesce(sum(h.in_flight), 0) AS probes
}
CALL () {
  MATCH (p:Page) WHERE p.lease_until > $now
  RETURN count(*) AS pages
}
CALL () {
  MATCH (r:Resource) WHERE r.lease_until > $now
  RETURN count(*) AS resources
}
CALL () {
  MATCH (h:Host) WHERE h.probing = false WITH h LIMIT $most
  RETURN count(h) AS waiting
}
RETURN probes, pages + resources AS out, waiting
