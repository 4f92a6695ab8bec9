// Redirects that lead to redirects, and those that lead in a circle
//
// A row is a chain of two steps or more, from a page to which no redirect leads, or a circle, from the smallest of its
// URLs. A chain that leads into a circle ends where the circle closes, and is marked as one, too. Long chains lose
// visitors and crawlers; circles have no end.
//
// group     Errors
// param     limit  how many chains
:param limit => 100;

MATCH (first:Page)-[:REDIRECTS_TO]->(second:Page)
WHERE EXISTS { (second)-[:REDIRECTS_TO]->() }
CALL (first) {
  MATCH path = (first)-[:REDIRECTS_TO*2..20]->()
  WITH path ORDER BY length(path) DESC LIMIT 1
  RETURN [page IN nodes(path) | page.url] AS chain
}
WITH first, chain WHERE NOT EXISTS { (first)<-[:REDIRECTS_TO]-() }
  OR (last(chain) = first.url AND all(url IN chain WHERE first.url <= url))
RETURN size(chain) - 1 AS steps, last(chain) IN chain[..-1] AS circle, chain
ORDER BY steps DESC, chain LIMIT $limit
