// The robots.txt of some origins that may be claimed now and are asked for at another host, by a redirect.
//
// param   keys  LIST   keys of robots.txt
// param   now   FLOAT  epoch seconds
// column  rows  LIST   [key, the host that is asked]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (r:Resource {key: key})
WHERE r.lease_until IS NULL AND coalesce(r.due_at, 0.0) <= $now AND NOT r.key ENDS WITH '://' + r.host
RETURN collect([r.key, r.host]) AS rows
