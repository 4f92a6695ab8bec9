// Take visited pages out of queues, of their hosts' counts and of the order of retries, and forget why they were parked: most are
// in none of them.
//
// param   ids  LIST  internal ids; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p.queue = null, p.counted = null, p.counted_at = null, p.charged = null,
    p.errors = null, p.error = null, p.refusals = null, p.not_before = null, p.parked_because = null,
    p.respelt = null, p.failing_since = null, p.fault = null, p.untried_since = null
