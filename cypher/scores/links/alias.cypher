// Let a page redirect to another one, and no longer to its earlier target, nor to the page that its canonical named.
//
// param   rows   LIST     [id, id it redirects to]; the caller has locked both
// rows    none
// locks   the ends, held already
// mode    write
// retry   safe   absolute
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
MATCH (q:Page) WHERE id(q) = row[1]
OPTIONAL MATCH (p)-[r:REDIRECTS_TO|CANONICAL]->(o) WHERE o <> q OR type(r) = 'CANONICAL'
DELETE r
MERGE (p)-[:REDIRECTS_TO]->(q)
