// Count the links with each fault, and sum what is paid along them. The links are those that the questions broken-links
// and links-to-redirects list. A page that names aliases of a page pays that page itself, and once for all of them.
//
// param   intra  FLOAT  weight of a link inside a host
// column  rows   LIST   [fault, links, the authority that is paid along them] of each fault
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
  RETURN sum(links) AS broken,
         sum(coalesce(from.hub_paid, 0.0) * CASE WHEN from.host = payee.host THEN $intra ELSE 1.0 END) AS broken_paid
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
       coalesce(from.hub_paid, 0.0) * CASE WHEN from.host = payee.host THEN $intra ELSE 1.0 END AS paid
  RETURN coalesce(sum(links), 0) AS named, coalesce(sum(paid), 0.0) AS named_paid, coalesce(sum(chains), 0) AS chained,
         coalesce(sum(CASE WHEN chains > 0 THEN paid END), 0.0) AS chained_paid
}
RETURN [['broken', broken, broken_paid], ['named', named, named_paid], ['chained', chained, chained_paid]] AS rows
