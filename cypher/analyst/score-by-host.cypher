// Which hosts have the score
//
// A row is a host with the authority of all its pages, its `share` of that of all pages, and its mean. Of its `pages` so many are
// `inside` the scope, with `authority_inside`; hosts outside are known by links alone. One host with most of it: the crawl is about
// that host.
//
// group     Scores
// param     limit  how many hosts
// cost      every page
:param limit => 50;

MATCH (p:Page)
WITH p.host AS host, p.authority_history + p.authority_cash AS score, NOT (p.state = 'outside' AND p.outside_because = 'scope') AS holds
WITH host, count(*) AS pages, sum(score) AS authority, count(CASE WHEN holds THEN 1 END) AS inside,
     sum(CASE WHEN holds THEN score ELSE 0.0 END) AS authority_inside
WITH collect([host, pages, authority, inside, authority_inside]) AS rows, sum(authority) AS total
UNWIND rows AS row
RETURN row[0] AS host, row[1] AS pages, row[3] AS inside, row[2] AS authority, row[4] AS authority_inside,
       round(row[2] / total, 4) AS share, round(row[2] / row[1], 3) AS mean
ORDER BY authority DESC, host LIMIT $limit
