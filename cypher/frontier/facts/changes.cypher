// Keep the times at which visits found pages changed, the latest ten.
//
// param   rows  LIST  [id, seconds since the epoch]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   once   in the transaction of the report, which is not recorded twice
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
WITH p, row, p {.change_times} AS m
SET p.change_times = (coalesce(m.change_times, []) + row[1])[-10..]
