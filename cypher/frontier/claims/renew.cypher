// Hold pages longer.
//
// param   ids    LIST   internal ids; the caller has locked the pages and seen its token on them
// param   until  FLOAT  when the leases lapse now
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p.lease_until = $until
