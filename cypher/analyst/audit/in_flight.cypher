// How many leased pages each host counts as in flight.
//
// column  rows   LIST  [host, pages]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.lease_until >= 0
WITH p WHERE p.counted
WITH p.host AS host, count(*) AS pages
RETURN collect([host, pages]) AS rows
