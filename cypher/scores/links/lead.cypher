// Note by which status pages lead elsewhere for now, and that others no longer do.
//
// param   rows  LIST  [id, 302, 303 or 307, or null]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.led_by = row[1]
