// Lower the depth of pages, and mark those whose links are to be followed.
//
// param   rows  LIST  [id, new depth, whether it has links to follow]; the caller has locked them
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.depth = row[1], p.depth_lowered = CASE WHEN row[2] THEN row[1] ELSE null END
