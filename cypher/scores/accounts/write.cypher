// Write the accounts of pages, and the marks that follow from them. Compare weights with the present links.
//
// Each list is a block, [ids, column, …]: properties that change together on some of the pages. A block that is not sent is
// empty. One text of blocks takes a quarter of the time of one statement for each. No block has the name of a property:
// the planner takes `$given.lane` for a read of lanes, and would collect all rows before it sets any (`Eager`). The caller
// has locked the pages.
//
// param   hubs_spent                LIST     [ids, hub_cash, hub_history, hub_paid]: hub sides that have spent
// param   hubs_received             LIST     [ids, hub_cash]: hub sides that have only received
// param   hubs_absorbed             LIST     [ids, hub_history]: what a settling pass found spent in advance
// param   authorities_spent         LIST     [ids, authority_history, authority_paid, authority_cash]: authority sides that
//                                             have spent
// param   authorities_absorbed      LIST     [ids, authority_history]: as for hubs
// param   authorities_received      LIST     [ids, authority_cash]: authority sides that have only received
// param   settled                   LIST     [ids, hub_history, hub_paid, authority_history, authority_paid,
//                                             authority_cash] of pages that a settling pass has brought to their goal:
//                                             nothing waits there any more
// param   hubs_settled              LIST     [ids, hub_history, hub_paid]: the same, of one side
// param   authorities_settled       LIST     [ids, authority_history, authority_paid, authority_cash]: the same
// param   payouts                   LIST     [ids, payout or null for 1, own_payout or null]
// param   hub_priorities            LIST     [ids, hub_priority or null]: of a push
// param   authority_priorities      LIST     [ids, authority_priority or null]: of a push
// param   out_weights               LIST     [ids, out_weight, links_sum or null]: the latter identifies the links of a page
// param   in_weights                LIST     [ids, in_weight]
// param   flow_amounts              LIST     [ids, flow]
// param   live_pagerank_amounts     LIST     [ids, live_pagerank]
// param   flow_payments             LIST     [ids, flow_paid or null]: what each unit of link weight has got; null of a page
//                                             that passes none on
// param   live_pagerank_payments    LIST     [ids, live_pagerank_paid or null]: the same
// param   flow_priorities           LIST     [ids, flow_priority or null]: of a push
// param   live_pagerank_priorities  LIST     [ids, live_pagerank_priority or null]: of a push
// param   hub_ranks                 LIST     [ids, hub_rank or null]
// param   authority_ranks           LIST     [ids, authority_rank or null]
// param   lanes                     LIST     [ids, lane]
// param   harvests                  LIST     [ids, harvest or null for 1]: the factor of the section
// param   url_weights               LIST     [ids, url_weight or null for 1]: the factor by patterns of URLs
// param   depths                    LIST     [ids, depth, depth_lowered or null]: the depth again, if links are to be followed
// param   now                       FLOAT    seconds since the epoch
// param   even                      BOOLEAN  whether every link weighs 1; otherwise the weights are not compared
// column  wrong  LIST  ids of pages whose number of links differs from the weight that was written
// rows    one
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
CALL () {
  UNWIND range(0, coalesce(size($hubs_spent[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $hubs_spent[0][i]
  SET p.hub_cash = $hubs_spent[1][i], p.hub_history = $hubs_spent[2][i], p.hub_paid = $hubs_spent[3][i], p.hub_updated = $now
}
CALL () {
  UNWIND range(0, coalesce(size($hubs_received[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $hubs_received[0][i]
  SET p.hub_cash = $hubs_received[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($hubs_absorbed[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $hubs_absorbed[0][i]
  SET p.hub_history = $hubs_absorbed[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($authorities_spent[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $authorities_spent[0][i]
  SET p.authority_history = $authorities_spent[1][i], p.authority_paid = $authorities_spent[2][i],
      p.authority_cash = $authorities_spent[3][i], p.authority_updated = $now
}
CALL () {
  UNWIND range(0, coalesce(size($authorities_absorbed[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $authorities_absorbed[0][i]
  SET p.authority_history = $authorities_absorbed[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($authorities_received[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $authorities_received[0][i]
  SET p.authority_cash = $authorities_received[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($settled[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $settled[0][i]
  SET p.hub_history = $settled[1][i], p.hub_paid = $settled[2][i], p.authority_history = $settled[3][i],
      p.authority_paid = $settled[4][i], p.authority_cash = $settled[5][i], p.hub_priority = null,
      p.authority_priority = null
}
CALL () {
  UNWIND range(0, coalesce(size($hubs_settled[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $hubs_settled[0][i]
  SET p.hub_history = $hubs_settled[1][i], p.hub_paid = $hubs_settled[2][i], p.hub_priority = null
}
CALL () {
  UNWIND range(0, coalesce(size($authorities_settled[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $authorities_settled[0][i]
  SET p.authority_history = $authorities_settled[1][i], p.authority_paid = $authorities_settled[2][i],
      p.authority_cash = $authorities_settled[3][i], p.authority_priority = null
}
CALL () {
  UNWIND range(0, coalesce(size($payouts[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $payouts[0][i]
  SET p.payout = $payouts[1][i], p.own_payout = $payouts[2][i]
}
CALL () {
  UNWIND range(0, coalesce(size($hub_priorities[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $hub_priorities[0][i]
  SET p.hub_priority = $hub_priorities[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($authority_priorities[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $authority_priorities[0][i]
  SET p.authority_priority = $authority_priorities[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($out_weights[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $out_weights[0][i]
  SET p.out_weight = $out_weights[1][i], p.links_sum = $out_weights[2][i]
  WITH i, COUNT { (p)-[:LINKS|LEADS_TO]->() } AS links
  RETURN collect(CASE WHEN $even AND abs(links - $out_weights[1][i]) > 1e-6 * (1.0 + links)
                      THEN $out_weights[0][i] END) AS wrong_out
}
CALL () {
  UNWIND range(0, coalesce(size($in_weights[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $in_weights[0][i]
  SET p.in_weight = $in_weights[1][i]
  WITH i, COUNT { (p)<-[:LINKS|LEADS_TO]-() } AS links
  RETURN collect(CASE WHEN $even AND abs(links - $in_weights[1][i]) > 1e-6 * (1.0 + links)
                      THEN $in_weights[0][i] END) AS wrong_in
}
CALL () {
  UNWIND range(0, coalesce(size($flow_amounts[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $flow_amounts[0][i]
  SET p.flow = $flow_amounts[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($live_pagerank_amounts[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $live_pagerank_amounts[0][i]
  SET p.live_pagerank = $live_pagerank_amounts[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($flow_payments[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $flow_payments[0][i]
  SET p.flow_paid = $flow_payments[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($live_pagerank_payments[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $live_pagerank_payments[0][i]
  SET p.live_pagerank_paid = $live_pagerank_payments[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($flow_priorities[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $flow_priorities[0][i]
  SET p.flow_priority = $flow_priorities[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($live_pagerank_priorities[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $live_pagerank_priorities[0][i]
  SET p.live_pagerank_priority = $live_pagerank_priorities[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($hub_ranks[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $hub_ranks[0][i]
  SET p.hub_rank = $hub_ranks[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($authority_ranks[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $authority_ranks[0][i]
  SET p.authority_rank = $authority_ranks[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($lanes[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $lanes[0][i]
  SET p.lane = $lanes[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($harvests[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $harvests[0][i]
  SET p.harvest = $harvests[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($url_weights[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $url_weights[0][i]
  SET p.url_weight = $url_weights[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($depths[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $depths[0][i]
  SET p.depth = $depths[1][i], p.depth_lowered = $depths[2][i]
}
RETURN wrong_out + wrong_in AS wrong
