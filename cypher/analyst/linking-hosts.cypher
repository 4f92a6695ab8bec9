// Hosts by how many other hosts link to them
//
// A row is a host with how many different hosts have links to its pages. Many links from one host count once: this is
// harder to forge than a number of links. `inside`: the scope holds pages of the host.
//
// group     Hosts
// param     limit  how many hosts
// cost      every link: some 1 to 2 s for a million links
:param limit => 50;

// Host by host, and a page's host is read once for all links to it from one host: that is quicker, and needs less memory.
MATCH (h:Host)
CALL (h) {
  MATCH (from:Page {host: h.name})-[:LINKS]->(to:Page) WHERE from.first_fetched IS NOT NULL
  WITH to, count(*) AS links
  RETURN to.host AS host, sum(links) AS links
}
WITH h.name AS home, host, links WHERE host <> home
WITH host, count(*) AS hosts, sum(links) AS links, collect(home)[..5] AS such_as
ORDER BY hosts DESC, links DESC, host LIMIT $limit
RETURN host, hosts, links, EXISTS { (x:Page {host: host}) WHERE NOT (x.state = 'outside' AND x.outside_because = 'scope') } AS inside, such_as
ORDER BY hosts DESC, links DESC, host
