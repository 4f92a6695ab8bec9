// Write the provisional scores of pages that a batch score does not cover yet.
//
// param   ids     LIST  internal ids; the caller has locked the pages
// param   values  LIST  of each, on a scale on which the mean of all pages is 1
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS n
MATCH (p:Page) WHERE id(p) = $ids[n]
SET p.provisional = $values[n]
