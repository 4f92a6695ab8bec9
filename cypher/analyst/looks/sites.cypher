// The sections of hosts that something was learned of, in the order of their names.
//
// param   host   STRING   of this host alone; empty: of all
// param   after  STRING   of hosts whose names come after this
// param   limit  INTEGER  of so many
// column  last   STRING   the name of the last of them; null where there are fewer
// column  rows   LIST     [host, sections as they are kept] of each
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
CALL () {
  MATCH (s:Site) WHERE $host <> '' AND s.host = $host
  RETURN s
UNION
  MATCH (s:Site) WHERE $host = '' AND s.host > $after
  RETURN s ORDER BY s.host LIMIT $limit
}
WITH s.host AS host, s.sections AS sections ORDER BY host
WITH collect([host, sections]) AS found
RETURN CASE WHEN $host = '' AND size(found) = $limit THEN found[-1][0] END AS last,
       [row IN found WHERE row[1] IS NOT NULL] AS rows
