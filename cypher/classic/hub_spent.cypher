// Write the hub side of pages that have spent.
//
// param   rows  LIST   [id, cash relative to the offset, history, clock]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.hub_cash = row[1], p.hub_history = row[2], p.hub_updated = row[3]
