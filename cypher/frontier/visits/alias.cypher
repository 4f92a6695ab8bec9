// Write since when pages are aliases, and when they are looked at again.
//
// param   rows   LIST   [id, alias_since, recheck_at or null]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.alias_since = row[1], p.recheck_at = row[2]
