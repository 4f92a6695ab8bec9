// Which hosts have the score
//
// A row is a host with the authority of all its pages, its `share` of that of all pages, and its mean. One host with
// most of it: the crawl is about that host.
//
// group     Scores
// param     limit  how many hosts
// cost      every page
:param limit => 50;

MATCH (p:Page)
WITH p.host AS host, count(*) AS pages, sum(p.authority_history + p.authority_cash) AS authority
WITH collect([host, pages, authority]) AS rows, sum(authority) AS total
UNWIND rows AS row
RETURN row[0] AS host, row[1] AS pages, row[2] AS authority, round(row[2] / total, 4) AS share, round(row[2] / row[1], 3) AS mean
ORDER BY authority DESC, host LIMIT $limit
