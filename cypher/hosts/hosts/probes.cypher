// How many claims are out: of ill hosts, and of all. Claims that have lapsed, and that nobody has taken back yet, count for
// their hosts, but not among all.
//
// param   now     FLOAT    seconds since the epoch
// column  probes  INTEGER  claims out of ill hosts
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
  MATCH (p:Page) WHERE p.lease_until > $now
  RETURN count(*) AS out
}
RETURN probes, out
