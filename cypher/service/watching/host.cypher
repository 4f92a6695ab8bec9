// Count the pages of a host by their states, by how they fail, and by sitemaps, and list the best of them. Every page of
// the host is read.
//
// param   name      STRING   the host
// param   limit     INTEGER  how many of the best pages at most
// column  states    LIST     [state, pages, how many of them fail, how many a sitemap names] of each state
// column  sitemap   FLOAT    when a sitemap last named a page of it; or null
// column  faults    LIST     [fault or null, pages] of the pages that fail
// column  best      LIST     [url, state, status or null, authority, visits] of the pages with the most authority
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page {host: $name})
  WITH p.state AS state, p.in_sitemap AS named, CASE WHEN coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) THEN 1 END AS fails
  WITH state, count(*) AS pages, count(fails) AS failing, count(named) AS listed, max(named) AS last
  ORDER BY pages DESC, state
  RETURN collect([state, pages, failing, listed]) AS states, max(last) AS sitemap
}
CALL () {
  MATCH (p:Page {host: $name}) WHERE coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
  WITH p.fault AS fault, count(*) AS pages ORDER BY pages DESC, fault
  RETURN collect([fault, pages]) AS faults
}
CALL () {
  MATCH (p:Page {host: $name})
  WITH p, p.authority_history + p.authority_cash AS authority ORDER BY authority DESC, p.url LIMIT $limit
  RETURN collect([p.url, p.state, p.status, authority, p.visits]) AS best
}
RETURN states, sitemap, faults, best
