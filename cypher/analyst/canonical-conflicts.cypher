// Pages that name another as the one to be found
//
// A row is a page whose canonical is another address. `problem` is the reason why that can do harm: its target is not
// in the graph, fails, redirects, may not be fetched by robots.txt, asks not to be found, or names yet another one; or
// it is outside the scope, so that nothing is known of it. No problem: the page is a copy that names its original. In
// Browser a target outside the scope that no page links to is not in the graph. `authority` is 0 of a page that has left
// the scope.
//
// group     Content
// param     host  only pages of this host; empty: all
// param     harmless  also pages whose canonical can do no harm
// param     limit  how many pages
// cost      every page
:param host => '';
:param harmless => true;
:param limit => 100;

// Pages and targets are brought together by the URL in one go: looked up one by one, each would cost the pages of its host.
CALL () {
  MATCH (p:Page) WHERE p.canonical <> p.url AND p.state <> 'alias' AND ($host = '' OR p.host = $host)
    AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
  RETURN p.canonical AS canonical, p, null AS target
UNION ALL
  MATCH (p:Page) WHERE p.canonical <> p.url AND p.state <> 'alias' AND ($host = '' OR p.host = $host)
    AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
  WITH collect(DISTINCT p.canonical) AS named
  MATCH (q:Page) WHERE q.url IN named
  RETURN q.url AS canonical, null AS p, q AS target
}
WITH canonical, collect(p) AS pages, head(collect(target)) AS q
UNWIND pages AS p
WITH p, CASE WHEN q IS NULL THEN 'is not in the graph' WHEN q.state = 'alias' THEN 'redirects'
            WHEN q.state = 'outside' AND q.outside_because = 'robots' THEN 'may not be fetched'
            WHEN q.state = 'outside' THEN 'is outside the scope'
            WHEN coalesce(q.failed, 0.0) > coalesce(q.fetched, 0.0) THEN 'fails'
            WHEN q.led_to IS NOT NULL THEN 'redirects' WHEN q.noindex THEN 'asks not to be found'
            WHEN q.canonical <> q.url THEN 'names another' END AS problem
WHERE $harmless OR problem IS NOT NULL
RETURN problem, CASE WHEN p.state = 'outside' AND p.outside_because = 'scope' THEN 0.0
                ELSE p.authority_history + p.authority_cash END AS authority, p.canonical AS canonical, p.url AS url
ORDER BY problem IS NULL, problem, url LIMIT $limit
