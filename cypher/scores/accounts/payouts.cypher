// Return the payouts of locked pages, and those set by hand. The accounts hold all else on which payouts depend.
//
// param   ids   LIST  internal ids, sorted; the caller has locked the pages
// column  rows  LIST  [id, payout, own payout or -1] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.payout, .own_payout} AS m
RETURN collect([page, coalesce(m.payout, 1.0), coalesce(m.own_payout, -1.0)]) AS rows
