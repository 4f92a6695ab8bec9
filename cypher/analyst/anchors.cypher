// The texts of links to a page
//
// A row is a text that links to the page have, with the number of those links. Texts show the topic that others see in
// a page; many links with one text from one host are a menu. Links that name an address which redirects to the page
// count, too. Anchors must be reported by the crawler. With an empty url: the best page that has some.
//
// group     Content
// param     url  the page's URL as it is in the graph; empty: the best authority with such links
// param     limit  how many texts
// cost      every page, without a url
:param url => '';
:param limit => 50;

CALL () {
  MATCH (p:Page {host: split($url, '/')[2]}) WHERE p.url = $url
  RETURN p
UNION ALL
  WITH $url AS url WHERE url = ''
  MATCH (p:Page)
  WITH p ORDER BY p.authority_history + p.authority_cash DESC, p.url LIMIT 1000
  WHERE EXISTS { (p)<-[r:LINKS]-() WHERE r.anchor IS NOT NULL } OR EXISTS { (p)<-[:REDIRECTS_TO|CANONICAL]-(:Page)<-[r:SPELLS]-() WHERE r.anchor IS NOT NULL }
  RETURN p LIMIT 1
}
CALL (p) {
  MATCH (p)<-[r:LINKS]-(from:Page) WHERE from.state <> 'alias' AND (r.via IS NULL OR r.anchor IS NOT NULL)
  RETURN r, from
UNION ALL
  MATCH (p)<-[:REDIRECTS_TO|CANONICAL]-{1,20}(a:Page)
  WITH DISTINCT a
  MATCH (a)<-[r:SPELLS]-(from:Page) WHERE from.state <> 'alias' AND from.led_by IS NULL
  RETURN r, from
}
WITH p, r.anchor AS anchor, count(*) AS links, count(DISTINCT from.host) AS hosts, min(from.url) AS such_as
RETURN links, hosts, anchor, such_as, p.url AS url
ORDER BY links DESC, anchor LIMIT $limit
