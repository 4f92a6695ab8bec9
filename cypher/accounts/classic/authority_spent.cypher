// Write the authority side of pages that have spent.
//
// param   ids                LIST  internal ids; the caller has locked the pages
// param   authority_cash     LIST  of each, relative to the offset
// param   authority_history  LIST  of each
// param   authority_updated  LIST  of each: the classic engine's clock
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.authority_cash = $authority_cash[i], p.authority_history = $authority_history[i],
    p.authority_updated = $authority_updated[i]
