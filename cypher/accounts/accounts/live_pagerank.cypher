// Write the live PageRank of pages: 1 and the amount that their in-links have brought.
//
// param   ids            LIST  internal ids; the caller has locked the pages
// param   live_pagerank  LIST  of each
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.live_pagerank = $live_pagerank[i]
