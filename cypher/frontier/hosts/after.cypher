// The names of the next hosts in their order, for a pass over all of them.
//
// param   after  STRING   the last name that is done
// param   limit  INTEGER  at most this many
// column  names  LIST     host names, sorted
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host) WHERE h.name > $after
WITH h ORDER BY h.name LIMIT $limit
RETURN collect(h.name) AS names
