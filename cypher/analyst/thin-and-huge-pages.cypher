// Thin and huge pages
//
// A row is an HTML page that was fetched with fewer bytes than `thin` or fewer words than `words` (`thin`), or with more
// bytes than `huge`, the best first. A thin page has little text beside its markup; a huge one is slow, and crawlers may read
// only a part of it. Sizes must be reported by the crawler; words are counted where it reports the body, too.
//
// group     Content
// param     host  only this host; empty: all
// param     thin  bytes
// param     words  words of its visible text
// param     huge  bytes
// param     limit  how many pages
// cost      every page
:param host => '';
:param thin => 1024;
:param words => 50;
:param huge => 1000000;
:param limit => 100;

MATCH (p:Page) WHERE p.state = 'known' AND p.led_to IS NULL AND ($host = '' OR p.host = $host)
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
  AND (p.size < $thin OR p.words < $words OR p.size > $huge)
  AND coalesce(p.content_type, 'text/html') IN ['text/html', 'application/xhtml+xml']
WITH p, p.authority_history + p.authority_cash AS authority ORDER BY authority DESC, p.url LIMIT $limit
RETURN CASE WHEN p.size < $thin OR coalesce(p.words < $words, false) THEN 'thin' ELSE 'huge' END AS problem, p.size AS bytes,
       p.words AS words, authority, p.title AS title, p.url AS url
ORDER BY authority DESC, url
