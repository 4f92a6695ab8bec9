// The aliases that pages in a range of ids name in their HTML, as rows of a table.
//
// param   first    INTEGER  the first id
// param   last     INTEGER  the last one
// column  rows     LIST     [key of the source, key of the alias, text or null, rel or null] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i AND p.spells AND p.state <> 'alias' AND p.led_by IS NULL
WITH p, p.key AS source
MATCH (p)-[r:SPELLS]->(a)
RETURN collect([source, a.key, r.anchor, r.rel]) AS rows
