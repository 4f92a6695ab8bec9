// Score that ends in dead ends
//
// Pages with a high authority from which no link leads on: they fail, were never fetched, may not be fetched, or have
// no links. `why` is the reason.
//
// group     Structure
// param     limit  how many pages
// cost      every page
:param limit => 50;

MATCH (p:Page) WHERE p.state <> 'alias'
WITH p, p.authority_history + p.authority_cash AS authority,
     CASE WHEN p.state = 'parked' OR coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) THEN 'fails'
          WHEN p.state = 'outside' THEN 'outside: ' + p.outside_because
          WHEN p.first_fetched IS NULL THEN 'not fetched yet'
          WHEN NOT EXISTS { (p)-[:LINKS|LEADS_TO]->() } THEN 'has no links' END AS why
WHERE why IS NOT NULL
RETURN authority, why, p.status AS status, COUNT { (p)<-[:LINKS]-() } AS in_links, p.url AS url
ORDER BY authority DESC, url LIMIT $limit
