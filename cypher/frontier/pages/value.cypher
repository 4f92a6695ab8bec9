// Set what pages are worth to the crawler.
//
// param   rows  LIST  [id, value]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.value = row[1]
