// Restart the accounts of pages for the exact engine: the payout as history, nothing paid.
//
// param   ids   LIST  internal ids, sorted
// rows    none
// locks   the pages, in order of ids
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH p, coalesce(p.payout, 1.0) AS payout
SET p.hub_cash = 0.0, p.hub_history = payout, p.hub_paid = 0.0, p.hub_updated = null,
    p.authority_cash = 0.0, p.authority_history = payout, p.authority_paid = 0.0, p.authority_updated = null
