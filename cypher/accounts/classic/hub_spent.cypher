// Write the hub side of pages that have spent.
//
// param   ids          LIST  internal ids; the caller has locked the pages
// param   hub_cash     LIST  of each, relative to the offset
// param   hub_history  LIST  of each
// param   hub_updated  LIST  of each: the classic engine's clock
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.hub_cash = $hub_cash[i], p.hub_history = $hub_history[i], p.hub_updated = $hub_updated[i]
