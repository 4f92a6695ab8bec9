// Broken links, with all pages that have them
//
// A row is a link: the page to mend, the URL that its HTML names with the text of the link, and the page behind that URL, which
// failed when it was last tried; where a redirect leads there, `broken` is another URL than `names`. Restrict it to one host whose
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
  RETURN to, to.status AS status, to.fault AS fault, to.error AS error
  UNION ALL
  MATCH (to:Page) WHERE to.state = 'outside' AND NOT coalesce(to.failed, 0.0) > coalesce(to.fetched, 0.0)
  MATCH (r:Resource {key: 'link:' + to.url}) WHERE r.broken
  RETURN to, r.status AS status, r.fault AS fault, r.error AS error
}
CALL (to) {
  MATCH (to)<-[:REDIRECTS_TO]-{0,20}(a:Page)
  MATCH (a)<-[r:SPELLS|LINKS]-(from:Page) WHERE r.via IS NULL AND from.state <> 'alias' AND ($host = '' OR from.host = $host)
  RETURN DISTINCT from, a.url AS names, r.anchor AS text, CASE type(r) WHEN 'LINKS' THEN a.host ELSE to.host END AS payee
}
RETURN from.url AS on, status, fault, error,
       round(coalesce(from.hub_paid, 0.0) * CASE WHEN from.host = payee THEN intra ELSE 1.0 END, 6) AS paid, text, names, to.url AS broken
ORDER BY paid DESC, on, names, broken LIMIT $limit
