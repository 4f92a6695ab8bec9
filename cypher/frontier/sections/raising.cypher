// Hosts a section of which counts for more than before, or whose pages that try sections have to be chosen anew.
//
// param   limit  INTEGER  at most so many
// column  hosts  LIST     their names
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (s:Site {raising: true})
  RETURN s.host AS host LIMIT $limit
}
RETURN collect(host) AS hosts
