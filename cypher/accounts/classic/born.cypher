// Give pages that this transaction has created their first cash and history.
//
// param   ids                LIST   internal ids
// param   hub_cash           LIST   of each, relative to the offset
// param   authority_cash     LIST   of each, relative to the offset
// param   hub_history        LIST   of each
// param   authority_history  LIST   of each
// param   clock              FLOAT  the classic engine's clock
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.hub_cash = $hub_cash[i], p.authority_cash = $authority_cash[i],
    p.hub_history = $hub_history[i], p.authority_history = $authority_history[i],
    p.hub_updated = $clock, p.authority_updated = $clock, p.hub_paid = 0.0
