// Pages whose first visit has still to be learned from, the oldest first, and their hosts; and which hosts wait for more.
//
// param   limit  INTEGER  at most so many
// column  rows   LIST     [id, host, when it was] of each
// column  few    LIST     [host, how many such visits it waits for] of those that wait for more than most hosts
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page) WHERE p.unlearned IS NOT NULL
  RETURN id(p) AS page, p.host AS host, p.unlearned AS at ORDER BY at LIMIT $limit
}
WITH collect([page, host, at]) AS rows, collect(DISTINCT host) AS hosts
CALL (hosts) {
  UNWIND hosts AS host
  MATCH (s:Site {host: host}) WHERE s.learns_after IS NOT NULL
  RETURN collect([host, s.learns_after]) AS few
}
RETURN rows, few
