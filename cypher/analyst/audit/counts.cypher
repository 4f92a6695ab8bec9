// The same counts twice: by reading every page, and by the indexes.
//
// column  pages    LIST  waiting, leased, to be retried, hub priorities, authority priorities, hub ranks, authority ranks,
//                        flow priorities, priorities of live PageRank
// column  indexes  LIST  the same by index
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page)
  RETURN [count(p.queue), count(p.lease_until), count(p.not_before), count(p.hub_priority), count(p.authority_priority),
          count(p.hub_rank), count(p.authority_rank), count(p.flow_priority),
          count(p.live_pagerank_priority)] AS pages
}
CALL () { MATCH (p:Page) WHERE p.queue >= '' AND p.lane IS NOT NULL AND p.waiting_since IS NOT NULL RETURN count(*) AS a }
CALL () { MATCH (p:Page) WHERE p.lease_until >= 0 RETURN count(*) AS b }
CALL () { MATCH (p:Page) WHERE p.not_before >= 0 RETURN count(*) AS c }
CALL () { MATCH (p:Page) WHERE p.hub_priority >= -9223372036854775807 RETURN count(*) AS d }
CALL () { MATCH (p:Page) WHERE p.authority_priority >= -9223372036854775807 RETURN count(*) AS e }
CALL () { MATCH (p:Page) WHERE p.hub_rank >= 0 RETURN count(*) AS f }
CALL () { MATCH (p:Page) WHERE p.authority_rank >= 0 RETURN count(*) AS g }
CALL () { MATCH (p:Page) WHERE p.flow_priority >= -9223372036854775807 RETURN count(*) AS h }
CALL () { MATCH (p:Page) WHERE p.live_pagerank_priority >= -9223372036854775807 RETURN count(*) AS i }
RETURN pages, [a, b, c, d, e, f, g, h, i] AS indexes
