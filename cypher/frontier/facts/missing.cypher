// Keep the simhash of the text with which servers answer that there is no such page.
//
// param   rows  LIST  [id, simhash]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.missing_simhash = row[1]
