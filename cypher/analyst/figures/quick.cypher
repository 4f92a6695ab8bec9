// Figures of a brain for which no page is read: counts that the database keeps, the leases that are out, and the
// counters of this hour and the last.
//
// param   now     FLOAT    seconds since the epoch
// param   hour    INTEGER  the hour that runs, since the epoch
// column  held    LIST     [kind, leases of this kind that have not lapsed] of kinds that are no pages and have any lease
// column  pages   INTEGER  pages known
// column  links   INTEGER  links known
// column  out     INTEGER  leases that are out, those among them that have lapsed included
// column  lapsed  INTEGER  those of them that have lapsed and are not taken back yet
// column  tending INTEGER  processes that tend the brain
// column  active  INTEGER  processes that have reported or claimed, or tended the brain, in the last minute
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () { MATCH (p:Page) RETURN count(p) AS pages }
CALL () { MATCH ()-[r:LINKS]->() RETURN count(r) AS links }
CALL () {
  MATCH (p:Page) WHERE p.lease_until >= 0
  RETURN count(*) AS out, count(CASE WHEN p.lease_until <= $now THEN 1 END) AS lapsed
}
CALL () {
  MATCH (c:Hour) WHERE c.hour >= $hour - 1 AND c.worker IS NOT NULL
  RETURN count(DISTINCT CASE WHEN c.tends_until >= $now AND c.tends_until <= $now + 20 THEN c.worker END) AS tending,
         count(DISTINCT CASE WHEN c.seen >= $now - 60 THEN c.worker END) AS active
}
CALL () {
  MATCH (r:Resource) WHERE r.lease_until >= 0
  WITH r.kind AS kind, count(CASE WHEN r.lease_until > $now THEN 1 END) AS leases
  RETURN collect([kind, leases]) AS held
}
RETURN held, pages, links, out, lapsed, tending, active
