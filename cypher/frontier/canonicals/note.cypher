// Note the keys of the pages that the canonicals of pages name.
//
// param   rows  LIST  [id, key, or null where it names no other page of its host]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.canonical_key = row[1]
