// External links, by the host they lead to
//
// A row is another host that pages of this one link to, with how many links from how many pages. With an empty host:
// links between all hosts. `inside`: the scope holds pages of the host.
//
// group     Hosts
// param     host  links on pages of this host; empty: of all
// param     limit  how many hosts
// cost      every link, without a host: some 1 to 2 s for a million links
:param host => '';
:param limit => 100;

// Host by host, and a page's host is read once for all links to it from one host: that is quicker, and needs less memory.
CALL () {
  WITH $host AS host WHERE host <> ''
  MATCH (h:Host {name: host})
  RETURN h
UNION ALL
  WITH $host AS host WHERE host = ''
  MATCH (h:Host)
  RETURN h
}
CALL (h) {
  MATCH (from:Page {host: h.name})-[:LINKS]->(to:Page) WHERE from.first_fetched IS NOT NULL
  WITH h, to, collect(from) AS pages
  WITH h, to.host AS host, pages WHERE host <> h.name
  UNWIND pages AS from
  WITH host, from, count(*) AS links
  RETURN host, sum(links) AS links, count(*) AS pages, min(from.url) AS such_as
}
WITH host, sum(links) AS links, sum(pages) AS pages, min(such_as) AS such_as
ORDER BY links DESC, host LIMIT $limit
RETURN host, links, pages, EXISTS { (x:Page {host: host}) WHERE NOT (x.state = 'outside' AND x.outside_because = 'scope') } AS inside, such_as
ORDER BY links DESC, host
