// Remember when the in-links of pages are to be looked at, or forget it.
//
// param   ids   LIST   internal ids; the caller has locked the pages
// param   at    FLOAT  seconds since the epoch, or null
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p.look_again = $at
