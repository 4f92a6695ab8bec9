// Pages of https that load, send or link by http
//
// A row is a problem of a page, the best page first: `mixed content`, of images, scripts, styles and media that it loads by
// http, which browsers block or load without encryption; `insecure form`, one that sends by http; `http links`, to pages of
// its own host that are named by http. `count` is how many, with three of them. The crawler must report what pages load.
//
// group     Errors
// param     host  only this host; empty: all
// param     problem  only this problem; empty: all
// param     limit  how many rows
// cost      every page, and every link of pages of https
:param host => '';
:param problem => '';
:param limit => 100;

CALL () {
  MATCH (p:Page) WHERE p.requisites IS NOT NULL AND p.url STARTS WITH 'https:' AND p.state = 'known' AND p.led_to IS NULL
    AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
    AND ($host = '' OR p.host = $host)
  WITH p, [item IN p.requisites WHERE item CONTAINS ' http:' | split(item, ' ')] AS named
  WITH p, [item IN named WHERE item[0] <> 'form' AND item[1] STARTS WITH 'http:' | item[1]] AS loaded,
       [item IN named WHERE item[0] = 'form' AND item[1] STARTS WITH 'http:' | item[1]] AS forms
  UNWIND [['mixed content', loaded], ['insecure form', forms]] AS row
  RETURN p, row[0] AS problem, row[1] AS urls
UNION ALL
  MATCH (p:Page)-[r:LINKS|SPELLS]->(to:Page)
  WHERE p.url STARTS WITH 'https:' AND to.url STARTS WITH 'http:' AND r.via IS NULL AND p.state <> 'alias' AND p.led_by IS NULL
    AND to.host = p.host AND ($host = '' OR p.host = $host)
  RETURN p, 'http links' AS problem, collect(to.url) AS urls
}
WITH p, problem, urls, p.authority_history + p.authority_cash AS authority
WHERE size(urls) > 0 AND ($problem = '' OR problem = $problem)
WITH p, problem, urls, authority ORDER BY authority DESC, p.url, problem LIMIT $limit
RETURN problem, size(urls) AS count, urls[..3] AS such_as, authority, p.url AS url
ORDER BY authority DESC, url, problem
