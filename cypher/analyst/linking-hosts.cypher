// Hosts by how many other hosts link to them
//
// A row is a host with how many different hosts have links to its pages. Many links from one host count once: this is
// harder to forge than a number of links.
//
// group     Hosts
// param     limit  how many hosts
// cost      every link: some 1 s for a million links
:param limit => 50;

MATCH (from:Page) WHERE from.first_fetched IS NOT NULL
WITH from, from.host AS home
MATCH (from)-[:LINKS]->(to:Page)
WITH home, to.host AS host WHERE host <> home
WITH host, home, count(*) AS links
RETURN host, count(*) AS hosts, sum(links) AS links, collect(home)[..5] AS such_as
ORDER BY hosts DESC, links DESC, host LIMIT $limit
