// The sections of hosts, as they act. And is there any host of which something was learned? In a crawl whose reports bring no
// texts there is none; the database has the number of sites without reading one.
//
// param   hosts    LIST     names
// column  rows     LIST     [host, sections] of those that have any
// column  learned  BOOLEAN  is there a site, be it of another host?
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (s:Site)
  WITH count(s) AS sites
  RETURN sites > 0 AS learned
}
CALL () {
  UNWIND $hosts AS host
  MATCH (s:Site {host: host}) WHERE s.sections IS NOT NULL
  RETURN collect([host, s.sections]) AS rows
}
RETURN rows, learned
