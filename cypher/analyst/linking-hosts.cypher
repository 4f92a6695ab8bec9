// Hosts by how many other hosts link to them
//
// A row is a host with how many different hosts have links to its pages. Many links from one host count once: this is
// harder to forge than a number of links.
//
// group     Hosts
// param     limit  how many hosts
// cost      every link: some 2 to 4 s for a million links
:param limit => 50;

MATCH (from:Page) WHERE from.first_fetched IS NOT NULL
WITH from, from.host AS home
MATCH (from)-[:LINKS]->(to:Page)
// A page's host is read once for all links to it from one host: reading it is what costs.
WITH home, to, count(*) AS links
WITH home, to.host AS host, links WHERE host <> home
WITH host, home, sum(links) AS links
RETURN host, count(*) AS hosts, sum(links) AS links, collect(home)[..5] AS such_as
ORDER BY hosts DESC, links DESC, host LIMIT $limit
