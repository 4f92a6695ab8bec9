// Write what is believed of the rates of change of pages: Gamma of this shape and scale, changes a day.
//
// param   rows  LIST  [id, rate_shape, rate_scale (days)]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.rate_shape = row[1], p.rate_scale = row[2]
