// Pages that are asked for by hand count as asked for later, so that others come before them.
//
// param   rows  LIST  [id, since when]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0] AND p.wanted_at IS NOT NULL
SET p.wanted_at = row[1]
