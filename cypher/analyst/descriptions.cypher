// Meta descriptions that are missing, the same, too short, too long, or several
//
// A row is a problem of an HTML page that was fetched, the best page first: `missing`, `too short`, `too long`, `several`,
// `same`, as that of other pages of its host, of which `pages` have it, or `as title`. Where a page has several, the first
// counts. The crawler must report them.
//
// group     Content
// param     host  only this host; empty: all
// param     problem  only this problem; empty: all
// param     shortest  characters that a description has at least
// param     longest  characters that a description has at most
// param     limit  how many rows
// cost      every page
:param host => '';
:param problem => '';
:param shortest => 50;
:param longest => 160;
:param limit => 100;

MATCH (p:Page) WHERE p.state = 'known' AND p.led_to IS NULL AND p.descriptions IS NOT NULL AND ($host = '' OR p.host = $host)
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
WITH p.host AS host, p.descriptions[0] AS text, collect(p) AS pages
UNWIND pages AS p
WITH p, text, size(text) AS length, CASE WHEN text IS NULL THEN 1 ELSE size(pages) END AS pages
UNWIND [each IN [CASE WHEN text IS NULL THEN 'missing' END, CASE WHEN length < $shortest THEN 'too short' END,
                 CASE WHEN length > $longest THEN 'too long' END, CASE WHEN size(p.descriptions) > 1 THEN 'several' END,
                 CASE WHEN pages > 1 THEN 'same' END, CASE WHEN toLower(text) = toLower(p.title) THEN 'as title' END]
        WHERE each IS NOT NULL AND ($problem = '' OR each = $problem)] AS problem
WITH p, text, length, pages, problem, p.authority_history + p.authority_cash AS authority
ORDER BY authority DESC, p.url, problem LIMIT $limit
RETURN problem, length, pages, authority, text AS description, p.url AS url
ORDER BY authority DESC, url, problem
