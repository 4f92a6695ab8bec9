// Move pages to another queue; their place in it is kept.
//
// param   rows  LIST  [id, queue]; the caller has locked the pages, and the host whose queue it is
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.queue = row[1]
