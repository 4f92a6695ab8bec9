// Pages that are broken, by how many pages link to them
//
// A row is a page of the scope that failed when it was last tried; the one with the most links to it first, with three
// of the pages that link to it. For all of them ask broken-links.
// `fault` is one of: refused, broken, silent, missing, nowhere (a redirect to no URL, or temporary ones in a circle), circles (it
// redirects to itself), not_modified (a 304, and the page was never fetched), not_understood, bad_report (the
// crawler's report was refused).
//
// group     Errors
// param     limit  how many pages
// cost      every page
:param limit => 50;

MATCH (to:Page) WHERE to.state <> 'outside' AND coalesce(to.failed, 0.0) > coalesce(to.fetched, 0.0)
WITH to, COUNT { (to)<-[:LINKS]-(from:Page) WHERE from.state <> 'alias' } AS links ORDER BY links DESC, to.url LIMIT $limit
RETURN to.status AS status, to.fault AS fault, to.error AS error, links, [(from:Page)-[:LINKS]->(to) WHERE from.state <> 'alias' | from.url][..3] AS linked_from, to.url AS url
ORDER BY links DESC, url
