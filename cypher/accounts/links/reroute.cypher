// Let links begin and end at other pages, and keep the time since which they are known, their anchor and rel.
//
// param   rows   LIST  [id of the source, id of the target, id of the new source, id of the new target]; the caller has
//                      locked all, and made sure that the new ones are not linked, nor the same page
// column  moved  LIST  those whose link existed, by which the accounts change
// rows    one
// locks   the ends, held already
// mode    write
// retry   safe   what has moved is not found
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
MATCH (q:Page) WHERE id(q) = row[1]
// Both ends first, and then the link from the end with fewer links: see links/delete.
WITH DISTINCT p, q, row
MATCH (p)-[r:LINKS]->(q)
MATCH (a:Page) WHERE id(a) = row[2]
MATCH (b:Page) WHERE id(b) = row[3]
CREATE (a)-[:LINKS {since: r.since, anchor: r.anchor, rel: r.rel}]->(b)
DELETE r
RETURN collect(row) AS moved
