// What the crawl looks like: the first links, as a graph
//
// A row is a link on a page where the crawl begins; in Browser they are drawn: drag a page, or double-click it to see
// what else it links to.
//
// group     Progress
// param     limit  how many links
// cost      every page
:param limit => 50;

MATCH (p:Page) WHERE p.is_seed
MATCH path = (p)-[:LINKS]->(:Page)
RETURN path LIMIT $limit
