// Hosts that link to each other
//
// A row is a pair of hosts with links both ways. Pairs with many links and no other hosts that link to them are mutual
// admiration: see link-farms.
//
// group     Hosts
// param     limit  how many pairs
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
WITH CASE WHEN home < host THEN [home, host] ELSE [host, home] END AS pair, home, links
WITH pair, sum(CASE WHEN home = pair[0] THEN links ELSE 0 END) AS there, sum(CASE WHEN home = pair[1] THEN links ELSE 0 END) AS back
WHERE there > 0 AND back > 0
RETURN pair[0] AS host, there, back, pair[1] AS other
ORDER BY CASE WHEN there < back THEN there ELSE back END DESC, host, other LIMIT $limit
