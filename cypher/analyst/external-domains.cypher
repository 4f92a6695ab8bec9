// External links, by the host they lead to
//
// A row is another host that pages of this one link to, with how many links from how many pages. With an empty host:
// links between all hosts.
//
// group     Hosts
// param     host  links on pages of this host; empty: of all
// param     limit  how many hosts
// cost      every link, without a host: some 2 to 4 s for a million links
:param host => '';
:param limit => 100;

CALL () {
  WITH $host AS host WHERE host <> ''
  MATCH (from:Page {host: host})
  RETURN from
UNION ALL
  WITH $host AS host WHERE host = ''
  MATCH (from:Page) WHERE from.first_fetched IS NOT NULL
  RETURN from
}
WITH from, from.host AS home
MATCH (from)-[:LINKS]->(to:Page)
WITH from, home, to.host AS host WHERE host <> home
WITH host, from, count(*) AS links
RETURN host, sum(links) AS links, count(*) AS pages, min(from.url) AS such_as
ORDER BY links DESC, host LIMIT $limit
