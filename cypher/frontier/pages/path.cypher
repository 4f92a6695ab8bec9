// A shortest way from one page to another along links and redirects, of at most 1000 of them.
//
// param   source  STRING  key of the page it begins at
// param   target  STRING  key of the page it ends at, another one
// column  rows    LIST    [properties, since when the link to it is known or null] of each page on it; empty: there is none
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
OPTIONAL MATCH (a:Page {key: $source}), (b:Page {key: $target})
OPTIONAL MATCH way = shortestPath((a)-[:LINKS|LEADS_TO|REDIRECTS_TO*..1000]->(b))
WITH coalesce(nodes(way), []) AS ends, coalesce(relationships(way), []) AS links
RETURN [n IN range(0, size(ends) - 1) | [properties(ends[n]), CASE WHEN n > 0 THEN links[n - 1].since END]] AS rows
