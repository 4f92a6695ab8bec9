// Take pages out of the crawl, or out of why they are. Either way what was to be looked at has been.
//
// param   rows  LIST  [id, state, reason or null]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.state = row[1], p.parked_because = row[2], p.queue = null, p.not_before = null, p.look_again = null
