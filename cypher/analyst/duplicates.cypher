// Pages with the same bytes
//
// A row is a content with several addresses. The page with the best score comes first; the others could redirect to it,
// or name it as canonical.
//
// group     Content
// param     host  only this host; empty: all
// param     each  how many pages of a group are named
// param     limit  how many groups
// cost      every page
:param host => '';
:param each => 5;
:param limit => 50;

MATCH (p:Page) WHERE p.body_hash IS NOT NULL AND p.state = 'known' AND p.led_to IS NULL AND ($host = '' OR p.host = $host)
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
WITH p.body_hash AS body, count(*) AS pages WHERE pages > 1
WITH body, pages ORDER BY pages DESC, body LIMIT $limit
WITH collect(body) AS bodies
MATCH (p:Page) WHERE p.body_hash IN bodies AND p.state = 'known' AND p.led_to IS NULL AND ($host = '' OR p.host = $host)
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
WITH p.body_hash AS body, p.url AS url, p.host AS host, p.authority_history + p.authority_cash AS authority
ORDER BY authority DESC, url
WITH body, count(*) AS pages, count(DISTINCT host) AS hosts, sum(authority) AS authority, collect(url)[..$each] AS urls
RETURN pages, hosts, authority, urls
ORDER BY pages DESC, body
