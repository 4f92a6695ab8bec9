// Write both sides of pages that a settling pass has brought to their goal: nothing waits there any more.
//
// One statement for both: the page is looked up once, and its chain of properties is walked once. The authority's cash
// changes on nearly every page; the hub's does on a third, and written where it has not changed it would cost more than
// a statement of its own.
//
// param   rows  LIST   [id, hub history, hub paid, authority history, authority paid, authority cash];
//                     the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.hub_history = row[1], p.hub_paid = row[2], p.hub_priority = null,
    p.authority_history = row[3], p.authority_paid = row[4], p.authority_cash = row[5], p.authority_priority = null
