// Write the flow and the live PageRank that each unit of weight of the pages' links has got.
//
// param   ids                 LIST  internal ids; the caller has locked the pages
// param   flow_paid           LIST  of each, or null: it passes none on
// param   live_pagerank_paid  LIST  of each, or null: it has passed none on
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.flow_paid = $flow_paid[i], p.live_pagerank_paid = $live_pagerank_paid[i]
