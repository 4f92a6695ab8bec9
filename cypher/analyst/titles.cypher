// Titles that are missing, too short, too long, several, or those of the heading
//
// A row is a problem of a page that was fetched, the best page first: `missing`, `too short`, `too long`, `several`, `in the
// body`, or `as heading`, with the same words as its first heading. `stated` has all titles where there are several, each
// after its place. Lists of results show some 60 characters. Titles must be reported by the crawler; a title is missing of
// HTML alone. same-titles has those that several pages have.
//
// group     Content
// param     host  only this host; empty: all
// param     problem  only this problem; empty: all
// param     shortest  characters that a title has at least
// param     longest  characters that a title has at most; 300 are kept
// param     limit  how many rows
// cost      every page
:param host => '';
:param problem => '';
:param shortest => 10;
:param longest => 60;
:param limit => 100;

MATCH (p:Page) WHERE p.state = 'known' AND p.led_to IS NULL AND ($host = '' OR p.host = $host)
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
  AND (p.title IS NOT NULL OR (p.size IS NOT NULL AND p.content_type IN ['text/html', 'application/xhtml+xml']))
WITH p, size(p.title) AS length
UNWIND [each IN [CASE WHEN length IS NULL THEN 'missing' END, CASE WHEN length < $shortest THEN 'too short' END,
                 CASE WHEN length > $longest THEN 'too long' END, CASE WHEN size(p.titles) > 1 THEN 'several' END,
                 CASE WHEN any(one IN p.titles WHERE one STARTS WITH 'body ') THEN 'in the body' END,
                 CASE WHEN toLower(p.title) = toLower(p.h1[0]) THEN 'as heading' END]
        WHERE each IS NOT NULL AND ($problem = '' OR each = $problem)] AS problem
WITH p, length, problem, p.authority_history + p.authority_cash AS authority ORDER BY authority DESC, p.url, problem LIMIT $limit
RETURN problem, length, authority, p.title AS title, p.titles AS stated, p.url AS url
ORDER BY authority DESC, url, problem
