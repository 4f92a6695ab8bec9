// What the fixed point of some pages follows from, and what their accounts say now.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, relevance or -1, payout or -1, hub_history, hub_cash, authority_history, authority_cash];
//                     a page that is gone is missing
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.relevance, .payout, .hub_history, .hub_cash, .authority_history, .authority_cash} AS m
RETURN collect([page, coalesce(m.relevance, -1.0), coalesce(m.payout, -1.0), m.hub_history, m.hub_cash,
                m.authority_history, m.authority_cash]) AS rows
