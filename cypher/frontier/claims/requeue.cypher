// Let failed pages wait in their hosts' queues of retries, by the time of their last visit.
//
// param   rows   LIST    [id, queue]; the caller has locked the pages
// param   soonest FLOAT   seconds for which a page must not have been tried; these have waited for as long as they must
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.queue = row[1], p.not_before = null, p.untried_since = coalesce(p.failed, 0.0) - $soonest
