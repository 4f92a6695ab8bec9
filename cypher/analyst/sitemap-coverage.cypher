// Sitemaps against the crawl, host by host
//
// Of a host's pages, `both` are in a sitemap and were fetched, `only_sitemap` were not fetched, `only_crawl` were
// fetched and no sitemap names them, and `failing` are in a sitemap and do not answer properly. Hosts without any
// sitemap are left out. While pages wait to be fetched, the crawl is too young for this: an answer has the number of
// those that wait.
//
// group     Structure
// param     limit  how many hosts
// cost      every page
:param limit => 50;

MATCH (p:Page) WHERE p.state <> 'alias'
WITH p.host AS host, p.in_sitemap IS NOT NULL AS listed, p.first_fetched IS NOT NULL AS fetched, coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) AS fails
WITH host, count(CASE WHEN listed THEN 1 END) AS in_sitemap, count(CASE WHEN listed AND fetched THEN 1 END) AS both,
     count(CASE WHEN listed AND NOT fetched THEN 1 END) AS only_sitemap,
     count(CASE WHEN fetched AND NOT listed THEN 1 END) AS only_crawl, count(CASE WHEN listed AND fails THEN 1 END) AS failing
WHERE in_sitemap > 0
RETURN host, in_sitemap, both, only_sitemap, only_crawl, failing
ORDER BY in_sitemap DESC, host LIMIT $limit
