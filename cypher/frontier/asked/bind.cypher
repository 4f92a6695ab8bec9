// Note which pages are leased by a caller's key, in the transaction that leases them.
//
// param   key    STRING   the caller's
// param   token  STRING   the fencing token of the call
// param   pages  LIST     keys of the pages that it leases now
// param   until  FLOAT    when these leases lapse
// column  mine   BOOLEAN  false when another call has this key, or was told since what this one has
// rows    one
// locks   what is noted by the key
// mode    write
// retry   once   a run whose answer was lost is found by its token, on the pages
MERGE (locked:Asked {key: $key})
ON CREATE SET locked.token = $token, locked.pages = []
SET locked:Asked
WITH count(*) AS held
MATCH (a:Asked {key: $key})
WITH a, a.token = $token AND a.again IS NULL AS mine
FOREACH (_ IN CASE WHEN mine THEN [1] ELSE [] END | SET a.pages = a.pages + $pages, a.until = $until)
RETURN mine
