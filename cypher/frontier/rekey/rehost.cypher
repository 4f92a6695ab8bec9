// Give pages to other hosts; those that wait in a queue of the host before wait in the shared queue.
//
// param   rows  LIST  [id, host]; the caller has locked the pages and both hosts
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.queue = CASE WHEN p.queue IN [p.host, p.host + ' (budget)', p.host + ' (retry)'] THEN '*' ELSE p.queue END
SET p.host = row[1]
