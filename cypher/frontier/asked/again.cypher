// Return what earlier calls leased under the keys of callers. The transaction that repeats a call leases no more under
// its key.
//
// param   keys   LIST    the callers', sorted
// column  key    STRING  a caller's
// column  token  STRING  the fencing token of the call
// column  pages  LIST    keys of the pages it has leased
// rows    many
// locks   what is noted by the keys, in their order
// mode    write
// retry   safe
UNWIND $keys AS key
MATCH (locked:Asked {key: key})
SET locked:Asked
WITH count(*) AS held
UNWIND $keys AS key
MATCH (a:Asked {key: key})
SET a.again = true
RETURN a.key AS key, a.token AS token, a.pages AS pages
