// The best hubs: pages that link to good authorities
//
// A good hub is a list worth visiting again: what is new on its topic appears there first.
//
// group     Scores
// param     limit  how many pages
// cost      every page
:param limit => 50;

MATCH (p:Page) WHERE p.state <> 'alias' AND p.led_by IS NULL
RETURN p.hub_history + p.hub_cash AS hub, p.authority_history + p.authority_cash AS authority, p.state AS state,
       COUNT { (p)-[:LINKS]->() } AS out_links, p.url AS url
ORDER BY hub DESC, url LIMIT $limit
