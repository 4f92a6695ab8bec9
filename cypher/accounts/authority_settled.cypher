// Write the authority side of pages that a settling pass has brought to its goal: nothing waits there any more.
//
// param   rows  LIST   [id, history, paid, cash]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.authority_history = row[1], p.authority_paid = row[2], p.authority_cash = row[3], p.authority_priority = null
