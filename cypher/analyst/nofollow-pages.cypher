// Pages that mark their links as not to be followed
//
// A row is a page with `marked` links of nofollow, ugc or sponsored, `inside` of them to its own host, out of `links`
// that it has; or a `whole` page whose robots directives ask for nofollow, whose links a crawler that obeys does not
// report. nofollow-links has the hosts that they lead to. The crawler must report the rel of links and facts of pages.
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
UNION ALL
  MATCH (p:Page {host: h.name}) WHERE p.nofollow AND p.state <> 'alias'
  RETURN p, 0 AS marked, 0 AS inside, [] AS such_as
}
WITH p, sum(marked) AS marked, sum(inside) AS inside, reduce(all = [], some IN collect(such_as) | all + some) AS such_as,
     coalesce(p.nofollow, false) AS whole
ORDER BY whole DESC, marked DESC, p.url LIMIT $limit
RETURN whole, marked, inside, COUNT { (p)-[:LINKS]->() } AS links, such_as, p.url AS url
ORDER BY whole DESC, marked DESC, url
