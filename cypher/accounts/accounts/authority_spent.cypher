// Write the authority side of pages that have spent.
//
// param   ids                LIST   internal ids; the caller has locked the pages
// param   authority_cash     LIST   of each
// param   authority_history  LIST   of each
// param   authority_paid     LIST   of each: what each unit of link weight has got
// param   now                FLOAT  seconds since the epoch
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.authority_cash = $authority_cash[i], p.authority_history = $authority_history[i],
    p.authority_paid = $authority_paid[i], p.authority_updated = $now
