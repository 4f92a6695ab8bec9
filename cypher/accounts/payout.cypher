// Write what the virtual page pays pages.
//
// param   rows  LIST   [id, payout or null for 1, own payout or null]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.payout = row[1], p.own_payout = row[2]
