// Links that say they should not be followed
//
// A row is a pair of hosts with links marked nofollow, ugc or sponsored, of `links` between them in all. Such links
// inside one host waste its own score; known where the crawler tells rel.
//
// group     Content
// param     limit  how many pairs
// cost      every link: some 1 s for a million links
:param limit => 50;

MATCH (from:Page) WHERE from.first_fetched IS NOT NULL
MATCH (from)-[r:LINKS]->(to:Page)
WITH from.host AS host, to.host AS other, r.rel AS rel, to.url AS url
WITH host, other, count(*) AS links, count(rel) AS marked, count(CASE WHEN rel CONTAINS 'nofollow' THEN 1 END) AS nofollow,
     count(CASE WHEN rel CONTAINS 'ugc' THEN 1 END) AS ugc, count(CASE WHEN rel CONTAINS 'sponsored' THEN 1 END) AS sponsored,
     min(CASE WHEN rel IS NOT NULL THEN url END) AS such_as
WHERE marked > 0
RETURN host, other, links, nofollow, ugc, sponsored, such_as
ORDER BY marked DESC, host, other LIMIT $limit
