// Write the authority side of pages that a settling pass has brought to its goal: nothing waits there any more.
//
// param   ids                LIST  internal ids; the caller has locked the pages
// param   authority_history  LIST  of each
// param   authority_paid     LIST  of each: what each unit of link weight has got
// param   authority_cash     LIST  of each
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.authority_history = $authority_history[i], p.authority_paid = $authority_paid[i],
    p.authority_cash = $authority_cash[i], p.authority_priority = null
