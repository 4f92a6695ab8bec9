// Note hints on pages: from when, and by what; of a claimed sitemap which, when it was noted, and the last visit then.
//
// param   rows  LIST  [id, seconds since the epoch, kind, number of the sitemap or null, when or null, when or null]; the
//                     caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.hinted = row[1], p.hinted_by = row[2], p.hint_number = row[3], p.hint_noted = row[4], p.hint_after = row[5]
