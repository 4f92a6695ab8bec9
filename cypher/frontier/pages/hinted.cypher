// Note hints on pages: from when, and by what.
//
// param   rows  LIST  [id, seconds since the epoch, kind]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.hinted = row[1], p.hinted_by = row[2]
