// Write the payouts that the virtual page pays pages.
//
// param   ids         LIST  internal ids; the caller has locked the pages
// param   payout      LIST  of each, or null for 1
// param   own_payout  LIST  of each, or null
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.payout = $payout[i], p.own_payout = $own_payout[i]
