// Record what to send along with the next visit.
//
// param   rows  LIST  [id, etag or null, last_modified or null];
//                     the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.etag = row[1], p.last_modified = row[2]
