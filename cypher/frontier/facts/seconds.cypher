// Note the duration of fetches, of visits without other facts of their pages.
//
// param   rows  LIST  [id, seconds]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.fetch_seconds = row[1]
