// How many claims of resources are out and have not lapsed.
//
// param   now  FLOAT    seconds since the epoch
// column  out  INTEGER  claims out
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (r:Resource) WHERE r.lease_until > $now
RETURN count(*) AS out
