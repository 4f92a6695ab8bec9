// Return the links of some pages, with their URLs.
//
// param   ids    LIST     internal ids
// param   cross  BOOLEAN  only links to another host
// column  rows   LIST     [id, url, [[id it links to, its url, since when, anchor or null, rel or null,
//                         [the alias that it names instead, anchor, rel] or null]]] of each, in the order of ids
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p, p {.url, .host} AS m
RETURN collect([i, m.url, [(p)-[r:LINKS]->(q) WHERE NOT $cross OR q.host <> m.host | [id(q), q.url, r.since, r.anchor, r.rel,
                           CASE WHEN r.via THEN head([(p)-[s:SPELLS]->(a) WHERE EXISTS { (a)-[:REDIRECTS_TO|CANONICAL*1..20]->(q) } | [a.url, s.anchor, s.rel]]) END]]]) AS rows
