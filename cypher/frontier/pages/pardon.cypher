// Forget the failures of pages: they wait for no retry.
//
// param   ids  LIST  internal ids; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p.not_before = null, p.errors = null, p.error = null, p.refusals = null, p.parked_because = null,
    p.failing_since = null, p.fault = null, p.untried_since = null, p.recheck_at = null
