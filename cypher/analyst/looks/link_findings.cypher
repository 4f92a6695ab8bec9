// Count the links with each fault, and sum what is paid along them. The links are those that the questions broken-links
// and links-to-redirects list. A page that names aliases of a page pays that page itself, and once for all of them. What is
// paid to pages outside the scope is summed apart, too: it is no part of the authority inside.
//
// param   intra  FLOAT  weight of a link inside a host
// column  rows   LIST   [fault, links, the authority that is paid along them, the part of it that leaves the scope] of each
//                       fault
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
CALL () {
  CALL () {
    MATCH (to:Page) WHERE coalesce(to.failed, 0.0) > coalesce(to.fetched, 0.0)
    CALL (to) {
      MATCH (to) ((:Page)<-[s:REDIRECTS_TO|LEADS_TO|SPELLS]-(x:Page) WHERE (x.state = 'alias' OR x.led_by IS NOT NULL) AND s.via IS NULL){0,20} (a:Page)
      RETURN DISTINCT a
    }
    RETURN a, to
    UNION
    MATCH (to:Page) WHERE to.state = 'outside' AND NOT coalesce(to.failed, 0.0) > coalesce(to.fetched, 0.0)
    MATCH (r:Resource {key: 'link:' + to.url}) WHERE r.broken
    CALL (to) {
      MATCH (to) ((:Page)<-[s:REDIRECTS_TO|LEADS_TO|SPELLS]-(x:Page) WHERE (x.state = 'alias' OR x.led_by IS NOT NULL) AND s.via IS NULL){0,20} (a:Page)
      RETURN DISTINCT a
    }
    RETURN a, to
    UNION
    MATCH (a:Page) WHERE (a.state = 'alias' OR a.led_by IS NOT NULL) AND NOT coalesce(a.failed, 0.0) > coalesce(a.fetched, 0.0)
    CALL (a) {
      MATCH way = (a) ((x:Page)-[s:REDIRECTS_TO|LEADS_TO|SPELLS]->(:Page) WHERE (x.state = 'alias' OR x.led_by IS NOT NULL) AND s.via IS NULL){2,20} (:Page)
      WITH nodes(way) AS pages ORDER BY length(way) DESC LIMIT 1
      RETURN last(pages) IN pages[..-1] AS circle
    }
    WITH a WHERE circle
    RETURN a, a AS to
  }
  MATCH (a)<-[r:SPELLS|LINKS]-(from:Page) WHERE r.via IS NULL AND from.state <> 'alias' AND from.led_by IS NULL
  CALL (a) {
    MATCH (a)-[:REDIRECTS_TO]->{0,10}(goal:Page) WHERE goal.state <> 'alias'
    RETURN collect(goal)[0] AS goal
  }
  WITH DISTINCT from, r, a, to, CASE type(r) WHEN 'LINKS' THEN a ELSE coalesce(goal, a) END AS payee
  WITH payee, from, count(*) AS links
  WITH links, coalesce(from.hub_paid, 0.0) * CASE WHEN from.host = payee.host THEN $intra ELSE 1.0 END AS paid,
       payee.state = 'outside' AND payee.outside_because = 'scope' AS leaves
  RETURN coalesce(sum(links), 0) AS broken, coalesce(sum(paid), 0.0) AS broken_paid,
         coalesce(sum(CASE WHEN leaves THEN paid END), 0.0) AS broken_left
}
CALL () {
  MATCH (a:Page) WHERE a.state = 'alias'
  CALL (a) {
    MATCH way = (a) ((x:Page)-[s:REDIRECTS_TO|LEADS_TO|SPELLS]->(:Page) WHERE (x.state = 'alias' OR x.led_by IS NOT NULL) AND s.via IS NULL){0,20} (:Page)
    WITH nodes(way) AS pages ORDER BY length(way) DESC LIMIT 1
    RETURN pages, last(pages) IN pages[..-1] AS circle
  }
  WITH a, circle OR size(pages) <> 2 AS chain, CASE WHEN NOT circle THEN head([page IN pages WHERE page.state <> 'alias']) END AS to
  MATCH (a)<-[r:SPELLS|LINKS]-(from:Page) WHERE r.via IS NULL AND from.state <> 'alias' AND from.led_by IS NULL
  WITH from, chain, CASE type(r) WHEN 'LINKS' THEN a ELSE coalesce(to, a) END AS payee
  WITH from, payee, count(*) AS links, count(CASE WHEN chain THEN 1 END) AS chains,
       coalesce(from.hub_paid, 0.0) * CASE WHEN from.host = payee.host THEN $intra ELSE 1.0 END AS paid,
       payee.state = 'outside' AND payee.outside_because = 'scope' AS leaves
  RETURN coalesce(sum(links), 0) AS named, coalesce(sum(paid), 0.0) AS named_paid, coalesce(sum(chains), 0) AS chained,
         coalesce(sum(CASE WHEN leaves THEN paid END), 0.0) AS named_left,
         coalesce(sum(CASE WHEN chains > 0 THEN paid END), 0.0) AS chained_paid,
         coalesce(sum(CASE WHEN chains > 0 AND leaves THEN paid END), 0.0) AS chained_left
}
RETURN [['broken', broken, broken_paid, broken_left], ['named', named, named_paid, named_left],
        ['chained', chained, chained_paid, chained_left]] AS rows
