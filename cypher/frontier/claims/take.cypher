// Lease pages to workers, and move others to another queue, where they keep their place.
//
// param   rows    LIST    of pages to lease: [id, true when counted among its host's pages in flight, the address it is
//                         counted at, true when its host's budget is charged with it; else null; the fencing token of
//                         the call, who takes it]; the caller has locked the pages
// param   until   FLOAT   when the leases lapse
// param   moves   LIST    of pages that move: [id, queue]; the caller has locked the pages, and the hosts of the queues
// rows    none
// locks   the pages, held already
// mode    write
// retry   once   a run whose answer was lost is found by its token
CALL () {
  UNWIND $rows AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.queue = null, p.lease = row[4], p.lease_until = $until, p.worker = row[5], p.counted = row[1],
      p.counted_at = row[2], p.charged = row[3]
}
CALL () {
  UNWIND $moves AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.queue = row[1]
}
