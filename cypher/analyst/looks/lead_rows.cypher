// The temporary redirects of pages in a range of ids, as rows of a table.
//
// param   first    INTEGER  the first id
// param   last     INTEGER  the last one
// column  rows     LIST     [key of the source, key of the target, since, key of the alias of it that the source names or null, status] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i AND p.led_by IS NOT NULL
WITH p, p.key AS source
MATCH (p)-[r:LEADS_TO]->(q)
RETURN collect([source, q.key, r.since, head([(p)-[:SPELLS]->(a) | a.key]), r.status]) AS rows
