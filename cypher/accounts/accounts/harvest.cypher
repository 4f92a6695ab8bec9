// Write the factors of their sections with which pages wait.
//
// param   ids      LIST  internal ids; the caller has locked the pages
// param   harvest  LIST  of each; null for 1
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.harvest = $harvest[i]
