// What the virtual page pays locked pages, and what else it goes by: the rest stands in their accounts.
//
// param   ids   LIST  internal ids, sorted; the caller has locked the pages
// column  rows  LIST  [id, payout, own payout or -1, 1 for a seed or 0] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.payout, .own_payout, .is_seed} AS m
RETURN collect([page, coalesce(m.payout, 1.0), coalesce(m.own_payout, -1.0), CASE WHEN m.is_seed THEN 1 ELSE 0 END]) AS rows
