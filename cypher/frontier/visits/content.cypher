// Record what visits found new: first seen, last changed, how many changes, hashes.
//
// param   rows  LIST  [id, first_fetched, changed or null, changes or null, body_hash or null, text_hash or null,
//                     simhash or null, blocks or null]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.first_fetched = row[1], p.changed = row[2], p.changes = row[3], p.body_hash = row[4], p.text_hash = row[5],
    p.simhash = row[6], p.blocks = row[7]
