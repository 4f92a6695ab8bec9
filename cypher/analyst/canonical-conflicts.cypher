// Pages that name another as the one to be found
//
// A row is a page whose canonical is another address; `problem` says why that can do harm: its target is not in the
// graph, fails, redirects, may not be fetched by robots.txt, asks not to be found, or names yet another one; or it is
// outside the scope, so that nothing is known of it. No problem: the page is a copy that knows it. In Browser a target
// outside the scope that no page links to is not in the graph.
//
// group     Content
// param     host  only pages of this host; empty: all
// param     limit  how many pages
// cost      every page
:param host => '';
:param limit => 100;

MATCH (p:Page) WHERE p.canonical IS NOT NULL AND p.canonical <> p.url AND ($host = '' OR p.host = $host)
CALL (p) {
  OPTIONAL MATCH (q:Page {host: split(p.canonical, '/')[2]}) WHERE q.url = p.canonical
  RETURN q LIMIT 1
}
RETURN CASE WHEN q IS NULL THEN 'is not in the graph' WHEN q.state = 'alias' THEN 'redirects'
            WHEN q.state = 'outside' AND q.outside_because = 'robots' THEN 'may not be fetched'
            WHEN q.state = 'outside' THEN 'is outside the scope'
            WHEN coalesce(q.failed, 0.0) > coalesce(q.fetched, 0.0) THEN 'fails'
            WHEN q.led_to IS NOT NULL THEN 'redirects' WHEN q.noindex THEN 'asks not to be found'
            WHEN q.canonical <> q.url THEN 'names another' END AS problem,
       p.canonical AS canonical, p.url AS url
ORDER BY problem IS NULL, problem, url LIMIT $limit
