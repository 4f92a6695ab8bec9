// Write the flow and the live PageRank of pages: of each the amount that their in-links have brought, and the first amount.
//
// param   ids            LIST  internal ids; the caller has locked the pages
// param   flow           LIST  of each
// param   live_pagerank  LIST  of each
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.flow = $flow[i], p.live_pagerank = $live_pagerank[i]
