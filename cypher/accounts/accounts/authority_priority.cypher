// Write the priorities with which authority sides wait for a push.
//
// param   ids                 LIST  internal ids; the caller has locked the pages
// param   authority_priority  LIST  of each, or null
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.authority_priority = $authority_priority[i]
