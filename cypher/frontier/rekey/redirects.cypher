// Let the pages that redirect to some pages redirect to others instead, but for those others themselves.
//
// param   rows   LIST     [id, id of the page that takes its place]; the caller has locked both
// rows    none
// locks   the ends, the pages that redirect
// mode    write
// retry   safe   what has moved is not found
UNWIND $rows AS row
MATCH (x:Page)-[r:REDIRECTS_TO]->(p:Page) WHERE id(p) = row[0]
MATCH (q:Page) WHERE id(q) = row[1]
DELETE r
WITH x, q WHERE x <> q
MERGE (x)-[:REDIRECTS_TO]->(q)
