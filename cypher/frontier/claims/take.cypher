// Lease pages to workers, and write what was decided on candidates that were not leased.
//
// param   leases     LIST    of pages to lease: [id, true when counted among its host's pages in flight, the address it is
//                            counted at, true when its host's budget is charged with it; else null; the fencing token of
//                            the call, who takes it]; the caller has locked all pages
// param   until      FLOAT   when the leases lapse
// param   moves      LIST    of pages that wait in another queue, where they keep their place: [id, queue]; the caller has
//                            locked the hosts of the queues
// param   barred     LIST    ids of pages that robots.txt forbids: they are outside, and are not retried either
// param   kept_back  LIST    [id, when] of pages that wait in no queue until their robots.txt is tried again; then they wait
//                            with those that are to be tried again
// param   rechecks   LIST    [id, when] of aliases, and pages that were given up, that are looked at again then
// param   unwanted   LIST    ids of pages that are asked for by hand no more
// param   asked      LIST    [id, since when] of pages that count as asked for later, so that others come before them
// param   tried      LIST    [id, when its section was last tried, or a later time; -1 where the page was claimed for that;
//                            null where it is chosen no more]
// rows    none
// locks   the pages, held already
// mode    write
// retry   once   a run whose answer was lost is found by its token
CALL () {
  UNWIND $leases AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.queue = null, p.lease = row[4], p.lease_until = $until, p.worker = row[5], p.counted = row[1],
      p.counted_at = row[2], p.charged = row[3]
}
CALL () {
  UNWIND $moves AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.queue = row[1]
}
CALL () {
  UNWIND $barred AS i
  MATCH (p:Page) WHERE id(p) = i
  SET p.state = 'outside', p.outside_because = 'robots', p.queue = null, p.not_before = null
}
CALL () {
  UNWIND $kept_back AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.queue = null, p.not_before = row[1]
}
CALL () {
  UNWIND $rechecks AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.recheck_at = row[1]
}
CALL () {
  UNWIND $unwanted AS i
  MATCH (p:Page) WHERE id(p) = i
  SET p.wanted_at = null
}
CALL () {
  UNWIND $asked AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.wanted_at = row[1]
}
CALL () {
  UNWIND $tried AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.try_at = row[1]
}
