// Look again at aliases, and at pages that were given up, at a time, or no more.
//
// param   rows   LIST   [id, when or null]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.recheck_at = row[1]
