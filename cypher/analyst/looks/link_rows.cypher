// The links of pages in a range of ids, as rows of a table.
//
// param   first    INTEGER  the first id
// param   last     INTEGER  the last one
// column  rows     LIST     [key of the source, key of the target, since, does the source name only an alias of it, text or
//                           null, rel or null] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH p, p.key AS source
MATCH (p)-[r:LINKS]->(q)
RETURN collect([source, q.key, r.since, coalesce(r.via, false), r.anchor, r.rel]) AS rows
