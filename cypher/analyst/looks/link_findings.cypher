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
    RETURN to
    UNION ALL
    MATCH (to:Page) WHERE to.state = 'outside' AND NOT coalesce(to.failed, 0.0) > coalesce(to.fetched, 0.0)
    MATCH (r:Resource {key: 'link:' + to.url}) WHERE r.broken
    RETURN to
  }
  CALL (to) {
    MATCH (to)<-[:REDIRECTS_TO]-{0,20}(a:Page)
    MATCH (a)<-[r:SPELLS|LINKS]-(from:Page) WHERE r.via IS NULL AND from.state <> 'alias'
    RETURN DISTINCT from, a.url AS names, r.anchor AS text, CASE type(r) WHEN 'LINKS' THEN a ELSE to END AS payee
  }
  WITH payee, from, count(*) AS links
  WITH links, coalesce(from.hub_paid, 0.0) * CASE WHEN from.host = payee.host THEN $intra ELSE 1.0 END AS paid,
       payee.state = 'outside' AND payee.outside_because = 'scope' AS leaves
  RETURN coalesce(sum(links), 0) AS broken, coalesce(sum(paid), 0.0) AS broken_paid,
         coalesce(sum(CASE WHEN leaves THEN paid END), 0.0) AS broken_left
}
CALL () {
  MATCH (a:Page) WHERE a.state = 'alias'
  MATCH (a)<-[r:SPELLS|LINKS]-(from:Page) WHERE r.via IS NULL AND from.state <> 'alias'
  CALL (a) {
    OPTIONAL MATCH way = (a)-[:REDIRECTS_TO*1..20]->(to:Page) WHERE NOT EXISTS { (to)-[:REDIRECTS_TO]->() }
    RETURN to, coalesce(length(way), 20) > 1 AS chain LIMIT 1
  }
  WITH from, CASE type(r) WHEN 'LINKS' THEN a ELSE coalesce(to, a) END AS payee, chain
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
