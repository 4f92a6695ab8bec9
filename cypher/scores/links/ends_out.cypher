// Return some of the pages that a page links to.
//
// param   key    STRING  the page's key
// param   ids    LIST    internal ids of the links
// column  rows   LIST    [properties of the page at the other end, since when, anchor or null, rel or null,
//                        [the alias that the page names instead, anchor, rel] or null] of each, in the order of ids
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND $ids AS i
MATCH (p)-[r:LINKS]->(q:Page) WHERE id(r) = i AND p.key = $key
WITH r.since AS since, r, p, q, q {.url, .key, .state, .depth, .hub_history, .hub_cash, .authority_history, .authority_cash} AS m
RETURN collect([m, since, r.anchor, r.rel,
                CASE WHEN r.via THEN head([(p)-[s:SPELLS]->(a) WHERE EXISTS { (a)-[:REDIRECTS_TO*1..20]->(q) } | [a.url, s.anchor, s.rel]]) END]) AS rows
