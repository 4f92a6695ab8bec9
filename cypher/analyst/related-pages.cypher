// Pages that are linked from the same pages as one
//
// `together` pages link to both; `share` is that over the links to the other page, so that a page to which all pages
// link does not come first by that alone. With an empty url: the pages related to the best page.
//
// group     Scores
// param     url  the page's URL as it is in the graph; empty: the best authority
// param     limit  how many pages
// cost      every page, without a url
:param url => '';
:param limit => 20;

CALL () {
  MATCH (p:Page {host: split($url, '/')[2]}) WHERE p.url = $url
  RETURN p
UNION ALL
  WITH $url AS url WHERE url = ''
  MATCH (p:Page)
  RETURN p ORDER BY p.authority_history + p.authority_cash DESC, p.url LIMIT 1
}
CALL (p) {
  MATCH (p)<-[:LINKS]-(hub:Page)
  RETURN hub ORDER BY hub.hub_history + hub.hub_cash DESC LIMIT 500
}
MATCH (hub)-[:LINKS]->(other:Page) WHERE other <> p
WITH other, count(*) AS together
RETURN together, round(1.0 * together / COUNT { (other)<-[:LINKS]-() }, 3) AS share, other.url AS url
ORDER BY together DESC, share DESC, url LIMIT $limit
