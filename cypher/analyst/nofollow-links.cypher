// Links marked as not to be followed
//
// A row is a pair of hosts with links marked nofollow, ugc or sponsored, of `links` between them in all. Such links
// inside one host waste its own score. The rel of links must be reported by the crawler.
//
// group     Content
// param     limit  how many pairs
// cost      every link: some 1 to 2 s for a million links
:param limit => 50;

// Host by host, and a page's host is read once for all links to it from one host: that is quicker, and needs less memory.
MATCH (h:Host)
CALL (h) {
  MATCH (from:Page {host: h.name})-[r:LINKS]->(to:Page) WHERE from.first_fetched IS NOT NULL
  WITH to, r.rel AS rel, count(*) AS links
  WITH to.host AS other, rel, links, CASE WHEN rel IS NOT NULL THEN to.url END AS url
  RETURN other, sum(links) AS links, sum(CASE WHEN rel IS NOT NULL THEN links ELSE 0 END) AS marked,
         sum(CASE WHEN rel CONTAINS 'nofollow' THEN links ELSE 0 END) AS nofollow,
         sum(CASE WHEN rel CONTAINS 'ugc' THEN links ELSE 0 END) AS ugc,
         sum(CASE WHEN rel CONTAINS 'sponsored' THEN links ELSE 0 END) AS sponsored, min(url) AS such_as
}
WITH h.name AS host, other, links, marked, nofollow, ugc, sponsored, such_as WHERE marked > 0
RETURN host, other, links, nofollow, ugc, sponsored, such_as
ORDER BY marked DESC, host, other LIMIT $limit
