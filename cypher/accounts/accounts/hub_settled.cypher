// Write the hub side of pages that a settling pass has brought to its goal: nothing waits there any more.
//
// param   ids          LIST  internal ids; the caller has locked the pages
// param   hub_history  LIST  of each
// param   hub_paid     LIST  of each: what each unit of link weight has got
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.hub_history = $hub_history[i], p.hub_paid = $hub_paid[i], p.hub_priority = null
