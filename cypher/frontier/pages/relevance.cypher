// Set the relevance of pages.
//
// param   rows  LIST  [id, relevance or null]; the caller has locked them
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.relevance = row[1]
