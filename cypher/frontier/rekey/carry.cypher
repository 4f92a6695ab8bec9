// Write what pages take over from others that are the same page.
//
// param   rows  LIST  [id, properties]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p += row[1]
