// Redirects that lead to redirects, and those that lead in a circle
//
// A row is a chain of two steps or more, for good or for now, from a page to which no redirect leads, or a circle, from the smallest of its
// URLs. A chain that leads into a circle ends where the circle closes, and is marked as one, too. Long chains lose
// visitors and crawlers; circles have no end.
//
// group     Errors
// param     limit  how many chains
// cost      every page
:param limit => 100;

MATCH (first:Page) WHERE first.state = 'alias' OR first.led_by IS NOT NULL
CALL (first) {
  MATCH way = (first) ((x:Page)-[s:REDIRECTS_TO|LEADS_TO|SPELLS]->(:Page) WHERE (x.state = 'alias' OR x.led_by IS NOT NULL) AND s.via IS NULL){2,20} (:Page)
  WITH way ORDER BY length(way) DESC LIMIT 1
  RETURN [page IN nodes(way) | page.url] AS chain
}
WITH first, chain
WHERE NOT EXISTS { (p:Page)-[r:REDIRECTS_TO|LEADS_TO|SPELLS]->(first) WHERE (p.state = 'alias' OR p.led_by IS NOT NULL) AND r.via IS NULL }
  OR (last(chain) = first.url AND all(url IN chain WHERE first.url <= url))
RETURN size(chain) - 1 AS steps, last(chain) IN chain[..-1] AS circle, chain
ORDER BY steps DESC, chain LIMIT $limit
