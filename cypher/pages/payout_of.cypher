// What the virtual page pays a page.
//
// param   id      INTEGER  its internal id; the caller has locked it
// column  payout  FLOAT    cash
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE id(p) = $id
RETURN coalesce(p.payout, 1.0) AS payout
