// What was leased by a caller's key, for a caller who asks again: whoever asked before leases no more by it.
//
// param   key    STRING  the caller's
// column  token  STRING  the fencing token of the call
// column  pages  LIST    keys of the pages it has leased
// rows    many
// locks   what is noted by the key
// mode    write
// retry   safe
MATCH (locked:Asked {key: $key})
SET locked:Asked
WITH count(*) AS held
MATCH (a:Asked {key: $key})
SET a.again = true
RETURN a.token AS token, a.pages AS pages
