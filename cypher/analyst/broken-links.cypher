// Broken links, with all pages that have them
//
// A row is a link: the page to mend, the URL that its HTML names with the text of the link, and the page behind that URL, which
// failed when it was last tried; where redirects lead there, for good or for now, `broken` is another URL than `names`. Redirects
// that lead in a circle are broken, too. Restrict it to one host whose
// pages you can mend. `paid` is the authority that the page has given along this link; pages that give the most come first.
// `fault` is as in broken-pages. Links that leave the scope are among them as far as `graphbrain check-links` has asked for
// their status, and crawlers have fetched it.
//
// group     Errors
// param     host  only links on pages of this host; empty: of all
// param     limit  how many links
// cost      every page
:param host => '';
:param limit => 1000;

OPTIONAL MATCH (b:Brain {key: 'brain'})
WITH coalesce(b.intra_host_weight, 1.0) AS intra
CALL (intra) {
  MATCH (to:Page) WHERE coalesce(to.failed, 0.0) > coalesce(to.fetched, 0.0)
  CALL (to) {
    MATCH (to) ((:Page)<-[s:REDIRECTS_TO|LEADS_TO|SPELLS]-(x:Page) WHERE (x.state = 'alias' OR x.led_by IS NOT NULL) AND s.via IS NULL){0,20} (a:Page)
    RETURN DISTINCT a
  }
  RETURN a, to, to.status AS status, to.fault AS fault, to.error AS error
  UNION
  MATCH (to:Page) WHERE to.state = 'outside' AND NOT coalesce(to.failed, 0.0) > coalesce(to.fetched, 0.0)
  MATCH (r:Resource {key: 'link:' + to.url}) WHERE r.broken
  CALL (to) {
    MATCH (to) ((:Page)<-[s:REDIRECTS_TO|LEADS_TO|SPELLS]-(x:Page) WHERE (x.state = 'alias' OR x.led_by IS NOT NULL) AND s.via IS NULL){0,20} (a:Page)
    RETURN DISTINCT a
  }
  RETURN a, to, r.status AS status, r.fault AS fault, r.error AS error
  UNION
  MATCH (a:Page) WHERE (a.state = 'alias' OR a.led_by IS NOT NULL) AND NOT coalesce(a.failed, 0.0) > coalesce(a.fetched, 0.0)
  CALL (a) {
    MATCH way = (a) ((x:Page)-[s:REDIRECTS_TO|LEADS_TO|SPELLS]->(:Page) WHERE (x.state = 'alias' OR x.led_by IS NOT NULL) AND s.via IS NULL){2,20} (:Page)
    WITH nodes(way) AS pages ORDER BY length(way) DESC LIMIT 1
    RETURN last(pages) IN pages[..-1] AS circle
  }
  WITH a WHERE circle
  RETURN a, a AS to, a.status AS status, 'circles' AS fault, null AS error
}
MATCH (a)<-[r:SPELLS|LINKS]-(from:Page)
WHERE r.via IS NULL AND from.state <> 'alias' AND from.led_by IS NULL AND ($host = '' OR from.host = $host)
CALL (a) {
  MATCH (a)-[:REDIRECTS_TO]->{0,10}(goal:Page) WHERE goal.state <> 'alias'
  RETURN collect(goal.host)[0] AS goal
}
WITH DISTINCT intra, from, r, a, to, status, fault, error, CASE type(r) WHEN 'LINKS' THEN a.host ELSE coalesce(goal, a.host) END AS payee
RETURN from.url AS on, status, fault, error,
       round(coalesce(from.hub_paid, 0.0) * CASE WHEN from.host = payee THEN intra ELSE 1.0 END, 6) AS paid, r.anchor AS text,
       a.url AS names, to.url AS broken
ORDER BY paid DESC, on, names, broken LIMIT $limit
