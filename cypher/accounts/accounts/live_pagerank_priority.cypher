// Write the priorities with which live PageRank waits to be passed on.
//
// param   ids                     LIST  internal ids; the caller has locked the pages
// param   live_pagerank_priority  LIST  of each, or null
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.live_pagerank_priority = $live_pagerank_priority[i]
