// Let links end at another page, and keep the time since which they are known.
//
// param   sources  LIST     internal ids of the pages whose link moves; the caller has locked them, and both targets
// param   old      INTEGER  the page they link to
// param   new      INTEGER  the page they are to link to; the caller has made sure that none of them does
// column  moved    LIST     id of the page of each link that has moved, by which the accounts change
// rows    one
// locks   the ends, held already
// mode    write
// retry   safe   what has moved is not found
UNWIND $sources AS source
MATCH (p:Page) WHERE id(p) = source
MATCH (q:Page) WHERE id(q) = $old
// Both ends first, and then the link from the end with fewer links: see links/write.
WITH DISTINCT p, q, source
MATCH (p)-[r:LINKS|LEADS_TO]->(q)
MATCH (n:Page) WHERE id(n) = $new
FOREACH (_ IN CASE WHEN r.status IS NULL THEN [1] ELSE [] END | CREATE (p)-[:LINKS {since: r.since}]->(n))
FOREACH (_ IN CASE WHEN r.status IS NULL THEN [] ELSE [1] END | CREATE (p)-[:LEADS_TO {since: r.since, status: r.status}]->(n))
DELETE r
RETURN collect(source) AS moved
