// What the crawl looks like: the first links, as a graph
//
// A row is a link on a page where the crawl begins, fifty at most; in Browser they are drawn: drag a page, or
// double-click it to see what else it links to.
//
// group     Progress
// cost      every page

MATCH (p:Page) WHERE p.is_seed
MATCH path = (p)-[:LINKS]->(:Page)
RETURN path LIMIT 50
