// Keep the times at which visits failed, and the status of each, 0 for none, the latest ten.
//
// param   rows  LIST  [id, seconds since the epoch, status]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   once   in the transaction of the report, which is not recorded twice
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
WITH p, row, p {.failure_times, .failure_statuses} AS m
SET p.failure_times = (coalesce(m.failure_times, []) + row[1])[-10..],
    p.failure_statuses = (coalesce(m.failure_statuses, []) + row[2])[-10..]
