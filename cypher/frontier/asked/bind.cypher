// Note the pages leased with callers' idempotency keys, in the transaction that leases them.
//
// param   rows      LIST  in order of the keys: [key, the fencing token of the call, keys of the pages that it leases now,
//                         when these leases lapse]
// column  answered  LIST  keys that another call has, or that answered since what this one has; nothing is noted with them
// rows    one
// locks   the notes of the keys, in their order
// mode    write
// retry   once   a run whose answer was lost is found by its token, on the pages
UNWIND $rows AS row
MERGE (locked:Asked {key: row[0]})
ON CREATE SET locked.token = row[1], locked.pages = []
SET locked:Asked
WITH collect(row) AS rows
UNWIND rows AS row
MATCH (a:Asked {key: row[0]})
WITH a, row, a.token = row[1] AND a.again IS NULL AS mine
FOREACH (_ IN CASE WHEN mine THEN [1] ELSE [] END | SET a.pages = a.pages + row[2], a.until = row[3])
RETURN collect(CASE WHEN NOT mine THEN row[0] END) AS answered
