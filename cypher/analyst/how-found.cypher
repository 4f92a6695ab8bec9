// How a page was found, in the fewest clicks
//
// A path of links and redirects from a seed to the page; in Browser it is drawn. With an empty url it is one of the deepest pages.
// No row: no links lead there from one of the 100 best seeds within 100 clicks, as for a page that came by a hint or
// whose links have gone.
//
// group     Planning
// param     url  the page's URL as it is in the graph; empty: one of the deepest
// cost      every page, without a url
:param url => '';

CALL () {
  MATCH (p:Page {host: split($url, '/')[2]}) WHERE p.url = $url
  RETURN p AS goal
UNION ALL
  WITH $url AS url WHERE url = ''
  MATCH (p:Page) WHERE p.depth < 2147483647
  RETURN p AS goal ORDER BY p.depth DESC, p.url LIMIT 1
}
CALL (goal) {
  MATCH (seed:Page) WHERE seed.is_seed AND seed <> goal
  WITH goal, seed ORDER BY seed.authority_history + seed.authority_cash DESC LIMIT 100
  MATCH path = shortestPath((seed)-[:LINKS|LEADS_TO|REDIRECTS_TO*1..100]->(goal))
  RETURN path ORDER BY length(path) LIMIT 1
}
RETURN path
