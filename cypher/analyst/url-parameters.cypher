// Parameters that multiply pages
//
// A row is the name of an argument in URLs of a host. `pages` have it, at `paths` different paths: many pages for each
// path mean that the argument makes them, and the scope may leave it out if `bodies`, their different contents, are
// few.
//
// group     Structure
// param     host  only this host; empty: all
// param     limit  how many parameters
// cost      every page
:param host => '';
:param limit => 50;

MATCH (p:Page) WHERE p.url CONTAINS '?' AND ($host = '' OR p.host = $host)
WITH p, split(p.url, '?') AS halves
UNWIND split(halves[1], '&') AS argument
WITH p.host AS host, split(argument, '=')[0] AS parameter, halves[0] AS path, p.body_hash AS body
WITH host, parameter, count(*) AS pages, count(DISTINCT path) AS paths, count(DISTINCT body) AS bodies
RETURN pages, paths, bodies, round(1.0 * pages / paths, 1) AS pages_a_path, host, parameter
ORDER BY pages - paths DESC, host, parameter LIMIT $limit
