// Where a host's cash goes
//
// A row is a host that pages of this one link to: `cash` is what they have paid along `links` links, all links
// weighing the same. Cash that stays at home makes the host look important to itself. With an empty host: the host of
// the best authority.
//
// group     Scores
// param     host  the host as it is in the graph; empty: that of the best authority
// param     limit  how many hosts
// cost      the links of the host's pages
:param host => '';
:param limit => 50;

CALL () {
  WITH $host AS host WHERE host <> ''
  RETURN host
UNION ALL
  WITH $host AS host WHERE host = ''
  MATCH (p:Page)
  WITH p ORDER BY p.authority_history + p.authority_cash DESC, p.url LIMIT 1
  RETURN p.host AS host
}
MATCH (p:Page {host: host})-[:LINKS]->(q:Page)
WITH host, q.host AS to, sum(p.hub_paid) AS cash, count(*) AS links
WITH host, collect([to, cash, links]) AS rows, sum(cash) AS total
UNWIND rows AS row
RETURN host, row[0] AS to, row[1] AS cash, round(CASE WHEN total > 0 THEN row[1] / total ELSE 0 END, 4) AS share, row[2] AS links
ORDER BY cash DESC, to LIMIT $limit
