// The hosts of some names that are in the graph. No page is read.
//
// param   names  LIST   host names
// column  found  LIST   the names of those that have been met
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
MATCH (h:Host {name: name})
RETURN collect(h.name) AS found
