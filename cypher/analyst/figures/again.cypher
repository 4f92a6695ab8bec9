// How many of some pages were fetched since a time.
//
// param   keys   LIST     page keys
// param   since  FLOAT    epoch seconds
// column  pages  INTEGER  the number of these pages
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (p:Page {key: key})
WHERE p.fetched >= $since
RETURN count(*) AS pages
