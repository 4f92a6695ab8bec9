// A shortest way from any seed to a page along links and redirects, of at most 1000 of them.
//
// param   target  STRING  key of the page it ends at
// column  rows    LIST    [properties, since when the link to it is known or null] of each page on it; empty: there is none
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
OPTIONAL MATCH (b:Page {key: $target})
OPTIONAL MATCH way = ANY SHORTEST (s:Page)-[:LINKS|LEADS_TO|REDIRECTS_TO]->{0,1000}(b) WHERE s.is_seed
WITH way LIMIT 1
WITH coalesce(nodes(way), []) AS ends, coalesce(relationships(way), []) AS links
RETURN [n IN range(0, size(ends) - 1) | [properties(ends[n]), CASE WHEN n > 0 THEN links[n - 1].since END]] AS rows
