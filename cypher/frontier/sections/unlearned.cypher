// Note that the first visits of pages have to be learned from.
//
// param   rows  LIST  [id, when it was, sketch of the text or null]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.unlearned = row[1], p.shingles = row[2]
