// Let pages wait as if they did so for longer.
//
// param   rows  LIST  [id, waiting_since]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.waiting_since = row[1]
