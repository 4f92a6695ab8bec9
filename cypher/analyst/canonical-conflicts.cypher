// Pages that name another as the one to be found
//
// A row is a page whose canonical is another address; `problem` says why that can do harm: its target is not in the
// graph, fails, redirects, asks not to be found, or names yet another one. No problem: the page is a copy that knows
// it.
//
// group     Content
// param     limit  how many pages
// cost      every page
:param limit => 100;

MATCH (p:Page) WHERE p.canonical IS NOT NULL AND p.canonical <> p.url
CALL (p) {
  OPTIONAL MATCH (q:Page {host: split(p.canonical, '/')[2]}) WHERE q.url = p.canonical
  RETURN q LIMIT 1
}
RETURN CASE WHEN q IS NULL THEN 'is not in the graph' WHEN q.state = 'alias' THEN 'redirects'
            WHEN coalesce(q.failed, 0.0) > coalesce(q.fetched, 0.0) THEN 'fails' WHEN q.noindex THEN 'asks not to be found'
            WHEN q.canonical <> q.url THEN 'names another' END AS problem,
       p.canonical AS canonical, p.url AS url
ORDER BY problem IS NULL, problem, url LIMIT $limit
