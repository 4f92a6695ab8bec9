// Pages of one host with the same title
//
// A row is a title that several pages of a host have: readers cannot distinguish them in a list of results. Pages with
// an empty title are not among them. Titles must be reported by the crawler.
//
// group     Content
// param     host  only this host; empty: all
// param     each  how many pages of a title are named
// param     limit  how many titles
// cost      every page
:param host => '';
:param each => 3;
:param limit => 50;

MATCH (p:Page) WHERE p.title IS NOT NULL AND p.state = 'known' AND p.led_to IS NULL AND ($host = '' OR p.host = $host)
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
WITH p.host AS host, p.title AS title, count(*) AS pages, count(DISTINCT p.body_hash) AS bodies, collect(p.url) AS urls
WHERE pages > 1
WITH pages, bodies, host, title, urls ORDER BY pages DESC, host, title LIMIT $limit
CALL (urls) { UNWIND urls AS url WITH url ORDER BY url LIMIT $each RETURN collect(url) AS such_as }
RETURN pages, bodies, host, title, such_as
ORDER BY pages DESC, host, title
