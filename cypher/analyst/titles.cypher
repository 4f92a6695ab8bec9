// Titles that are missing, too short, or too long
//
// A row is a page that was fetched, the best first. Lists of results show some 60 characters. Titles must be reported
// by the crawler; a title is missing of HTML alone.
//
// group     Content
// param     host  only this host; empty: all
// param     shortest  characters that a title has at least
// param     longest  characters that a title has at most; 300 are kept
// param     limit  how many pages
// cost      every page
:param host => '';
:param shortest => 10;
:param longest => 60;
:param limit => 100;

MATCH (p:Page) WHERE p.state = 'known' AND p.led_to IS NULL AND ($host = '' OR p.host = $host)
  AND (p.title IS NOT NULL OR (p.size IS NOT NULL AND p.content_type IN ['text/html', 'application/xhtml+xml']))
WITH p, size(p.title) AS length
WITH p, length, CASE WHEN length IS NULL THEN 'missing' WHEN length < $shortest THEN 'too short'
                     WHEN length > $longest THEN 'too long' END AS problem WHERE problem IS NOT NULL
WITH p, length, problem, p.authority_history + p.authority_cash AS authority ORDER BY authority DESC, p.url LIMIT $limit
RETURN problem, length, authority, p.title AS title, p.url AS url
ORDER BY authority DESC, url
