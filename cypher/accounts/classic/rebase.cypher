// Move a part of the offsets into the stored cash of pages.
//
// param   ids             LIST  internal ids; the caller has locked the pages and the virtual page
// param   hub_cash        LIST  of each, relative to the offset
// param   authority_cash  LIST  of each, relative to the offset
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.hub_cash = $hub_cash[i], p.authority_cash = $authority_cash[i]
