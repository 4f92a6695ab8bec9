// Directory by directory: pages, score, errors
//
// A row is a host and the first `level` parts of the path; `outside` pages are outside the scope. A directory of many pages with little score is where a
// crawl's budget goes to waste.
//
// group     Structure
// param     host  only this host; empty: all
// param     level  how many parts of the path
// param     limit  how many directories
// cost      every page
:param host => '';
:param level => 1;
:param limit => 100;

MATCH (p:Page) WHERE $host = '' OR p.host = $host
WITH p, split(split(p.url, '?')[0], '/') AS parts
WITH p, reduce(path = p.host, part IN parts[3..size(parts) - 1][..$level] | path + '/' + part) + '/' AS directory
WITH directory, count(*) AS pages, count(p.first_fetched) AS fetched,
     count(CASE WHEN p.state = 'outside' AND p.outside_because = 'scope' THEN 1 END) AS outside,
     avg(p.authority_history + p.authority_cash) AS authority, count(CASE WHEN coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) THEN 1 END) AS failing
RETURN pages, fetched, outside, round(authority, 3) AS authority, failing, directory
ORDER BY pages DESC, directory LIMIT $limit
