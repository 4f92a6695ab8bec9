// Pages that link to redirects
//
// A row is a link: the page to mend, the URL that its HTML names with the text of the link, and where the redirects for good end:
// what the page should name. `way`: all pages on the way, those of redirects for now among them, of which there are `steps`.
// Empty `to`: they lead in a circle, or nowhere. Restrict it to one host whose pages you can mend. `paid` is the authority
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
MATCH (a:Page) WHERE a.state = 'alias'
CALL (a) {
  MATCH way = (a) ((x:Page)-[s:REDIRECTS_TO|LEADS_TO|SPELLS]->(:Page) WHERE (x.state = 'alias' OR x.led_by IS NOT NULL) AND s.via IS NULL){0,20} (:Page)
  WITH nodes(way) AS pages ORDER BY length(way) DESC LIMIT 1
  RETURN pages, last(pages) IN pages[..-1] AS circle
}
WITH intra, a, pages, circle, CASE WHEN NOT circle THEN head([page IN pages WHERE page.state <> 'alias']) END AS to
WHERE circle OR size(pages) - 1 >= $steps OR size(pages) = 1
MATCH (a)<-[r:SPELLS|LINKS]-(on:Page)
WHERE r.via IS NULL AND on.state <> 'alias' AND on.led_by IS NULL AND ($host = '' OR on.host = $host)
WITH intra, a, r, on, pages, circle, to, CASE type(r) WHEN 'LINKS' THEN a.host ELSE coalesce(to.host, a.host) END AS payee
RETURN on.url AS on, a.status AS status,
       round(coalesce(on.hub_paid, 0.0) * CASE WHEN on.host = payee THEN intra ELSE 1.0 END, 6) AS paid, r.anchor AS text,
       CASE WHEN NOT circle AND size(pages) > 1 THEN size(pages) - 1 END AS steps, a.url AS names, to.url AS to,
       [page IN pages[1..] | page.url] AS way
ORDER BY paid DESC, on, names LIMIT $limit
