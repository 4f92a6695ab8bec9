// Pages wait in no queue until a moment, at which the robots.txt that keeps them waiting is tried again; then they wait with
// those that are to be tried again.
//
// param   rows  LIST  [id, when]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.queue = null, p.not_before = row[1]
