// Pages whose first visit has still to be learned from, the oldest first, and their hosts.
//
// param   limit  INTEGER  at most so many
// column  rows   LIST     [id, host, when it was] of each
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page) WHERE p.unlearned IS NOT NULL
  RETURN id(p) AS page, p.host AS host, p.unlearned AS at ORDER BY at LIMIT $limit
}
RETURN collect([page, host, at]) AS rows
