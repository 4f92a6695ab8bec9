// Let visited pages wait to be visited again; one that another claim holds waits since this visit when that has ended.
//
// param   rows  LIST  [id, queue, or null of a page that is held, waiting_since]; the caller has locked the pages, and the hosts whose queues they are
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.queue = row[1], p.waiting_since = row[2]
