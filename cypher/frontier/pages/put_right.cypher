// Write times of pages anew.
//
// param   rows  LIST  [id, map of what has changed]; the caller has locked the pages, and the hosts whose queues they are in
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p += row[1]
