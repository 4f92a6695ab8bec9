// Write both sides of pages that a settling pass has brought to their goal: nothing waits there any more.
//
// One statement for both: the page is looked up once, and its chain of properties is walked once. The authority's cash
// changes on nearly every page. The hub's changes on a third, and writing it where it has not changed would cost more
// than a statement of its own.
//
// param   ids                LIST  internal ids; the caller has locked the pages
// param   hub_history        LIST  of each
// param   hub_paid           LIST  of each: what each unit of link weight has got
// param   authority_history  LIST  of each
// param   authority_paid     LIST  of each: what each unit of link weight has got
// param   authority_cash     LIST  of each
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.hub_history = $hub_history[i], p.hub_paid = $hub_paid[i], p.hub_priority = null,
    p.authority_history = $authority_history[i], p.authority_paid = $authority_paid[i],
    p.authority_cash = $authority_cash[i], p.authority_priority = null
