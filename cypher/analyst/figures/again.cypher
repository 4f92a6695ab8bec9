// Those of some pages that were fetched since a time.
//
// param   keys   LIST     page keys
// param   since  FLOAT    epoch seconds
// column  keys   LIST     the keys of these pages
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (p:Page {key: key})
WHERE p.fetched >= $since
RETURN collect(p.key) AS keys
