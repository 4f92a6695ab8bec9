// Locked pages with everything an audit compares: accounts, the amounts due by the neighbours, marks, leases.
//
// A transaction that changes a neighbour's paid, or a link, writes this page too: once it is locked, the payments of
// its neighbours are stable.
//
// param   ids       LIST   internal ids, sorted; the caller has locked the pages
// param   intra     FLOAT  weight of a link inside a host
// column  rows      LIST   [id, url, payout, out_weight, in_weight, due_hub, due_authority, out_links, in_links, self_links,
//                          double_links, hub_rank, authority_rank, hub_priority, authority_priority, lane, state, queue, lease,
//                          lease_until, worker, not_before, host, was_fetched, brought, priorities]; `out_weight`, `in_weight`:
//                          of its links; `brought`: what its in-links have brought of flow, of live PageRank; `priorities`:
//                          flow_priority, live_pagerank_priority
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
CALL (p) {
  OPTIONAL MATCH (p)-[:LINKS|LEADS_TO]->(q)
  WITH p, q, CASE WHEN p.host = q.host THEN $intra ELSE 1.0 END AS w
  RETURN coalesce(sum(CASE WHEN q IS NULL THEN 0.0 ELSE w END), 0.0) AS dh, sum(w * q.authority_paid) AS hub, count(q) AS outs,
         count(CASE WHEN p = q THEN 1 END) AS selfs, count(q) - count(DISTINCT q) AS doubles
}
CALL (p) {
  OPTIONAL MATCH (p)<-[:LINKS|LEADS_TO]-(q)
  WITH p, q, CASE WHEN p.host = q.host THEN $intra ELSE 1.0 END AS w
  RETURN coalesce(sum(CASE WHEN q IS NULL THEN 0.0 ELSE w END), 0.0) AS da, sum(w * q.hub_paid) AS authority, count(q) AS ins,
         sum(w * coalesce(q.flow_paid, 0.0)) AS flow, sum(w * coalesce(q.live_pagerank_paid, 0.0)) AS live_pagerank
}
RETURN collect([id(p), p.url, coalesce(p.payout, 1.0), dh, da, hub, authority, outs, ins, selfs, doubles,
                p.hub_rank, p.authority_rank, p.hub_priority, p.authority_priority, p.lane,
                p.state, p.queue, p.lease, p.lease_until, p.worker, p.not_before, p.host,
                p.first_fetched IS NOT NULL, [flow, live_pagerank],
                [p.flow_priority, p.live_pagerank_priority]]) AS rows
