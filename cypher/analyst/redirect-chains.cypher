// Redirects that lead to redirects, and those that lead in a circle
//
// A row is a chain of two steps or more, from a page to which no redirect leads, or a circle, which has no end. Long
// chains lose visitors and crawlers.
//
// group     Errors
// param     limit  how many chains
:param limit => 100;

MATCH (first:Page)-[:REDIRECTS_TO]->(second:Page)
WHERE EXISTS { (second)-[:REDIRECTS_TO]->() }
CALL (first) {
  MATCH chain = (first)-[:REDIRECTS_TO*2..20]->(last:Page)
  WHERE NOT EXISTS { (last)-[:REDIRECTS_TO]->() } OR last = first
  RETURN chain, last ORDER BY length(chain) LIMIT 1
}
WITH first, last, chain WHERE last = first OR NOT EXISTS { (first)<-[:REDIRECTS_TO]-() }
RETURN length(chain) AS steps, last = first AS circle, [page IN nodes(chain) | page.url] AS chain
ORDER BY steps DESC, chain LIMIT $limit
