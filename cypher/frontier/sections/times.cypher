// How often a host was learned from.
//
// param   host     STRING   its name
// column  learned  INTEGER  0: never
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (s:Site {host: $host})
RETURN coalesce(s.learned, 0) AS learned
