// Return the accounts of some pages as they are now.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, hub_history, hub_cash, authority_history, authority_cash]; a deleted page is missing
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.hub_history, .hub_cash, .authority_history, .authority_cash} AS m
RETURN collect([page, m.hub_history, m.hub_cash, m.authority_history, m.authority_cash]) AS rows
