// Sitemaps against the crawl, host by host
//
// Of the addresses of a host that a sitemap names (`in_sitemap`), `both` were fetched and are pages of their own,
// `redirecting` redirect, for good or for now, to a page, to themselves or to no page, as in sitemap-entries, and
// `only_sitemap` were not fetched. `failing` of all these do not answer properly. `only_crawl` pages were fetched and no
// sitemap names them. Hosts without any sitemap are left out. While pages wait to be fetched, the crawl is too young for
// this: an answer has the number of those that wait.
//
// group     Structure
// param     limit  how many hosts
// cost      every page
:param limit => 50;

MATCH (p:Page)
WITH p, coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) AS fails
WITH p.host AS host, p.in_sitemap IS NOT NULL AS listed, p.first_fetched IS NOT NULL AS fetched, fails,
     p.state <> 'outside' AND CASE WHEN fails THEN coalesce(p.status IN [301, 302, 303, 307, 308], false)
                                   ELSE p.state = 'alias' OR p.led_to IS NOT NULL OR p.led_by IS NOT NULL END AS leads
WITH host, count(CASE WHEN listed THEN 1 END) AS in_sitemap, count(CASE WHEN listed AND fetched AND NOT leads THEN 1 END) AS both,
     count(CASE WHEN listed AND leads THEN 1 END) AS redirecting,
     count(CASE WHEN listed AND NOT fetched AND NOT leads THEN 1 END) AS only_sitemap,
     count(CASE WHEN fetched AND NOT listed AND NOT leads THEN 1 END) AS only_crawl, count(CASE WHEN listed AND fails THEN 1 END) AS failing
WHERE in_sitemap > 0
RETURN host, in_sitemap, both, redirecting, only_sitemap, only_crawl, failing
ORDER BY in_sitemap DESC, host LIMIT $limit
