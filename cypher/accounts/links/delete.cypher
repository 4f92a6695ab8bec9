// Delete links.
//
// Both ends are found before the link between them, with a DISTINCT that the planner cannot move. The link is then
// searched from the end with fewer links (`Expand(Into)`). Otherwise all links of one end are expanded for each of the
// others, and a page that loses 50,000 of them takes minutes, not seconds.
//
// param   rows  LIST  [id, [ids it no longer links to]]; the caller has locked both ends
// column  gone  LIST  [id, id it linked to] of each deleted link, by which the accounts change
// rows    one
// locks   the ends, held already
// mode    write
// retry   safe   what is gone is gone
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
UNWIND row[1] AS target
MATCH (q:Page) WHERE id(q) = target
WITH DISTINCT p, q
MATCH (p)-[r:LINKS]->(q)
WITH r, p, q
DELETE r
RETURN collect([id(p), id(q)]) AS gone
