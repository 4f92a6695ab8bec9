// How many claims are out: of hosts that do not answer, and of all.
//
// column  probes  INTEGER  claims out of hosts that do not answer
// column  out     INTEGER  claims out
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (h:Host) WHERE h.probing = true
  RETURN coalesce(sum(h.in_flight), 0) AS probes
}
CALL () {
  MATCH (p:Page) WHERE p.lease_until >= 0
  RETURN count(*) AS out
}
RETURN probes, out
