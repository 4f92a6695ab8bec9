// What was learned of hosts, as it acts, in the order of their names.
//
// param   after  STRING   names after this
// param   limit  INTEGER  at most so many
// column  rows   LIST     [host, sections] of each
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (s:Site) WHERE s.host > $after AND s.sections IS NOT NULL
  RETURN s.host AS host, s.sections AS sections ORDER BY host LIMIT $limit
}
RETURN collect([host, sections]) AS rows
