// Restart the accounts of pages for the classic engine: 1 + 1 cash, nothing spent.
//
// param   ids    LIST   internal ids, sorted
// param   clock  FLOAT  the classic engine's clock
// rows    none
// locks   the pages, in order of ids
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p.hub_cash = 1.0, p.hub_history = 0.0, p.hub_paid = 0.0, p.hub_updated = $clock,
    p.authority_cash = 1.0, p.authority_history = 0.0, p.authority_paid = 0.0, p.authority_updated = $clock,
    p.hub_priority = null, p.authority_priority = null
