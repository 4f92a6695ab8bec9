// Write hub history.
//
// param   ids          LIST  internal ids; the caller has locked the pages
// param   hub_history  LIST  of each
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.hub_history = $hub_history[i]
