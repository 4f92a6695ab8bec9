// Pages that mark their links as not to be followed
//
// A row is a page with `marked` links of nofollow, ugc or sponsored, `inside` of them to its own host, out of `links`
// that it has. nofollow-links has the hosts that they lead to. The rel of links must be reported by the crawler.
//
// group     Content
// param     host  only pages of this host; empty: all
// param     limit  how many pages
// cost      every link: some 1 to 2 s for a million links
:param host => '';
:param limit => 100;

MATCH (h:Host) WHERE $host = '' OR h.name = $host
CALL (h) {
  MATCH (p:Page {host: h.name})-[r:LINKS|SPELLS]->(to:Page) WHERE r.rel IS NOT NULL AND p.state <> 'alias'
  RETURN p, count(*) AS marked, count(CASE WHEN to.host = h.name THEN 1 END) AS inside, collect(to.url)[..3] AS such_as
}
WITH p, marked, inside, such_as ORDER BY marked DESC, p.url LIMIT $limit
RETURN marked, inside, COUNT { (p)-[:LINKS]->() } AS links, such_as, p.url AS url
ORDER BY marked DESC, url
