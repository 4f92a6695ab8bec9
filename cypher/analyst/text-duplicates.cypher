// Pages with the same visible text
//
// As duplicates, but by the text that readers see: pages that differ only in markup, dates in comments, or numbers of
// sessions.
//
// group     Content
// param     each  how many pages of a group are named
// param     limit  how many groups
// cost      every page
:param each => 5;
:param limit => 50;

MATCH (p:Page) WHERE p.text_hash IS NOT NULL AND p.state = 'known' AND p.led_to IS NULL
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
WITH p.text_hash AS text, count(*) AS pages WHERE pages > 1
WITH text, pages ORDER BY pages DESC, text LIMIT $limit
WITH collect(text) AS texts
MATCH (p:Page) WHERE p.text_hash IN texts AND p.state = 'known' AND p.led_to IS NULL
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
WITH p.text_hash AS text, p.url AS url, p.body_hash AS body, p.authority_history + p.authority_cash AS authority
ORDER BY authority DESC, url
WITH text, count(*) AS pages, count(DISTINCT body) AS bodies, sum(authority) AS authority, collect(url)[..$each] AS urls
RETURN pages, bodies, authority, urls
ORDER BY pages DESC, text
