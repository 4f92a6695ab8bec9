// Pages that robots.txt forbids and others link to
//
// The most linked first. A page that matters and has a high score here is one to ask its owner for.
//
// group     Errors
// param     limit  how many pages
// cost      every page
:param limit => 50;

MATCH (p:Page) WHERE p.outside_because = 'robots'
WITH p, COUNT { (p)<-[:LINKS]-() } AS in_links WHERE in_links > 0
RETURN in_links, p.authority_history + p.authority_cash AS authority, p.url AS url
ORDER BY in_links DESC, authority DESC, url LIMIT $limit
