// Note since when pages are asked for by hand.
//
// param   rows  LIST  [id, since when]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.wanted_at = row[1]
