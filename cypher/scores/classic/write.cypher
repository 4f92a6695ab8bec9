// Write the accounts of pages and of the virtual page under the classic engine, and the marks that follow. Compare weights
// with the present links.
//
// Each list is a block, [ids, column, …]: properties that change together on some of the pages. A block that is not sent is
// empty. One text of blocks takes a quarter of the time of one statement for each. No block has the name of a property:
// the planner takes `$given.lane` for a read of lanes, and would collect all rows before it sets any (`Eager`). The caller
// has locked the pages.
//
// param   born                      LIST     [ids, hub_cash, authority_cash, hub_history, authority_history] of pages that this
//                                             transaction has created; cash is relative to the offset, here and below
// param   hubs_spent                LIST     [ids, hub_cash, hub_history, hub_updated]: hub sides that have spent
// param   hubs_received             LIST     [ids, hub_cash]: hub sides that have only received
// param   authorities_spent         LIST     [ids, authority_cash, authority_history, authority_updated]: as for hubs
// param   authorities_received      LIST     [ids, authority_cash]: as for hubs
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
// param   virtual                   LIST     one row, or none if the virtual page is not locked: its properties, in the
//                                             order of classic/read_virtual
// param   clock                     FLOAT    the classic engine's clock
// param   even                      BOOLEAN  whether every link weighs 1; otherwise the weights are not compared
// column  wrong  LIST  ids of pages whose number of links differs from the weight that was written
// rows    one
// locks   the pages and the (:Brain), held already
// mode    write
// retry   safe   absolute values, computed from the locked state
CALL () {
  UNWIND range(0, coalesce(size($born[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $born[0][i]
  SET p.hub_cash = $born[1][i], p.authority_cash = $born[2][i], p.hub_history = $born[3][i],
      p.authority_history = $born[4][i], p.hub_updated = $clock, p.authority_updated = $clock, p.hub_paid = 0.0
}
CALL () {
  UNWIND range(0, coalesce(size($hubs_spent[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $hubs_spent[0][i]
  SET p.hub_cash = $hubs_spent[1][i], p.hub_history = $hubs_spent[2][i], p.hub_updated = $hubs_spent[3][i]
}
CALL () {
  UNWIND range(0, coalesce(size($hubs_received[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $hubs_received[0][i]
  SET p.hub_cash = $hubs_received[1][i]
}
CALL () {
  UNWIND range(0, coalesce(size($authorities_spent[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $authorities_spent[0][i]
  SET p.authority_cash = $authorities_spent[1][i], p.authority_history = $authorities_spent[2][i],
      p.authority_updated = $authorities_spent[3][i]
}
CALL () {
  UNWIND range(0, coalesce(size($authorities_received[0]), 0) - 1) AS i
  MATCH (p:Page) WHERE id(p) = $authorities_received[0][i]
  SET p.authority_cash = $authorities_received[1][i]
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
CALL () {
  UNWIND $virtual AS row
  MATCH (b:Brain {key: 'brain'})
  SET b.virtual_pages = row[0], b.virtual_hub_cash = row[1], b.virtual_authority_cash = row[2],
      b.virtual_hub_history = row[3], b.virtual_authority_history = row[4], b.virtual_updated = row[5],
      b.virtual_hub_offset = row[6], b.virtual_authority_offset = row[7], b.virtual_hub_total = row[8],
      b.virtual_authority_total = row[9], b.virtual_spent = row[10], b.virtual_stirred = row[11],
      b.virtual_clock = row[12], b.virtual_rebased = row[13], b.virtual_hub_base = row[14],
      b.virtual_authority_base = row[15], b.virtual_hub_held = row[16]
}
RETURN wrong_out + wrong_in AS wrong
