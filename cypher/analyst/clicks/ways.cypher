// Where clicks begin, and the ways of redirects: the pages in a range of ids that are seeds, name aliases, or redirect.
//
// param   first  INTEGER  the first id
// param   last   INTEGER  the last one
// column  rows   LIST     [id, is it a seed, [ids of the aliases that it names], [ids that it redirects to], does it redirect] of each
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p, p {.is_seed, .spells} AS m, p.state = 'alias' OR p.led_by IS NOT NULL AS redirects
WHERE m.is_seed OR m.spells OR redirects
RETURN collect([i, coalesce(m.is_seed, false), CASE WHEN m.spells THEN [(p)-[:SPELLS]->(a) | id(a)] ELSE [] END,
                [(p)-[:REDIRECTS_TO|LEADS_TO]->(q) | id(q)], coalesce(redirects, false)]) AS rows
