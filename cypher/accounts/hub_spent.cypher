// Write the hub side of pages that have spent.
//
// param   rows  LIST   [id, cash, history, paid]; the caller has locked the pages
// param   now   FLOAT  seconds since the epoch
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.hub_cash = row[1], p.hub_history = row[2], p.hub_paid = row[3], p.hub_updated = $now
