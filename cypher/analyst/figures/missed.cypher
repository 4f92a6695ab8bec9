// Pages that were fetched before, and have failed once since.
//
// param   keys  LIST  page keys
// column  keys  LIST  keys of these among them
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (p:Page {key: key})
WHERE p.first_fetched IS NOT NULL AND p.failing_since = p.failed
RETURN collect(p.key) AS keys
