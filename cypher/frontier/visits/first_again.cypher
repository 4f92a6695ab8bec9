// Record what the first visits after the first ones found: priors are made of that.
//
// param   rows  LIST  [id, days since the first visit, true if the page had changed, else null];
//                     the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.first_interval = row[1], p.first_changed = row[2]
