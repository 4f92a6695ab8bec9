// Give pages that this transaction has created their first cash and history.
//
// param   rows   LIST   [id, hub cash, authority cash, hub history, authority history]; cash relative to the offsets
// param   clock  FLOAT  the classic engine's clock
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.hub_cash = row[1], p.authority_cash = row[2], p.hub_history = row[3], p.authority_history = row[4],
    p.hub_updated = $clock, p.authority_updated = $clock, p.hub_paid = 0.0
