// The best authorities: pages that good hubs link to
//
// Score 1 is what a page has for being there; the rest comes from the pages that link to it.
//
// group     Scores
// param     inside only pages inside the scope: true or false
// param     limit  how many pages
// cost      every page
:param inside => false;
:param limit => 50;

MATCH (p:Page) WHERE p.state <> 'alias' AND NOT ($inside AND p.state = 'outside' AND p.outside_because = 'scope')
RETURN p.authority_history + p.authority_cash AS authority, p.hub_history + p.hub_cash AS hub, p.state AS state,
       COUNT { (p)<-[:LINKS]-() } AS in_links, p.url AS url
ORDER BY authority DESC, url LIMIT $limit
