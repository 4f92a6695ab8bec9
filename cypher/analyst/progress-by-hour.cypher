// What was done, hour by hour
//
// A row is an hour in UTC, the latest first, over all workers. Pages and links are those reported, claims are of pages;
// robots, sitemaps and checked count claims of robots.txt, of sitemaps and of links out of the scope; payments are moves
// of cash between pages that keep the scores right. Hours in which nothing was done are missing.
//
// group     Progress
// param     hours  how many hours
:param hours => 48;

MATCH (c:Hour)
WITH c.hour AS hour, sum(c.pages) AS pages, sum(c.links) AS links, sum(c.claims) AS claims, sum(c.payments) AS payments,
     sum(c.robots_claims) AS robots, sum(c.sitemap_claims) AS sitemaps, sum(c.link_claims) AS checked, count(*) AS workers
RETURN datetime({epochSeconds: hour * 3600}) AS hour, pages, links, claims, robots, sitemaps, checked, payments, workers
ORDER BY hour DESC LIMIT $hours
