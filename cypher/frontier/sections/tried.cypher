// Note when the sections of pages that were chosen to try them are to be tried next.
//
// param   rows  LIST  [id, when the section was last tried, or a later time; -1 where the page was claimed for that; null
//                     where it is chosen no more]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.try_at = row[1]
