// Pages that link to redirects
//
// A row is a link: the page to mend, the URL that its HTML names with the text of the link, and where the redirects end: what the
// page should name. Empty `to`: they lead in a circle. Restrict it to one host whose pages you can mend. `paid` is the authority
// that the page has given along this link; pages that give the most come first.
//
// group     Errors
// param     host  only links on pages of this host; empty: of all
// param     steps  only links that name a redirect of at least so many steps; one in a circle has no end of them
// param     limit  how many links
// cost      every page
:param host => '';
:param steps => 1;
:param limit => 1000;

OPTIONAL MATCH (b:Brain {key: 'brain'})
WITH coalesce(b.intra_host_weight, 1.0) AS intra
CALL (intra) {
  MATCH (a:Page) WHERE a.state = 'alias'
  RETURN a
}
MATCH (a)<-[r:SPELLS|LINKS]-(on:Page) WHERE r.via IS NULL AND on.state <> 'alias' AND ($host = '' OR on.host = $host)
CALL (a) {
  OPTIONAL MATCH way = (a)-[:REDIRECTS_TO*1..20]->(to:Page) WHERE NOT EXISTS { (to)-[:REDIRECTS_TO]->() }
  RETURN to, length(way) AS steps LIMIT 1
}
WITH a, r, on, to, steps, CASE type(r) WHEN 'LINKS' THEN a.host ELSE coalesce(to.host, a.host) END AS payee, intra
WHERE coalesce(steps, 20) >= $steps
RETURN on.url AS on, a.status AS status,
       round(coalesce(on.hub_paid, 0.0) * CASE WHEN on.host = payee THEN intra ELSE 1.0 END, 6) AS paid, r.anchor AS text, steps,
       a.url AS names, to.url AS to
ORDER BY paid DESC, on, names LIMIT $limit
