// Set what the virtual page pays a page.
//
// param   id      INTEGER  its internal id; the caller has locked it
// param   payout  FLOAT    cash, or null for 1
// rows    none
// locks   the page, held already
// mode    write
// retry   safe   absolute values
MATCH (p:Page) WHERE id(p) = $id
SET p.payout = $payout
