// Broken links, with all pages that have them
//
// A row is a link: the page to mend, and the broken URL it names. The page behind that URL failed when it was last tried. Restrict
// it to one host whose pages you can mend.
//
// group     Errors
// param     host  only links on pages of this host; empty: of all
// param     limit  how many links
// cost      every page
:param host => '';
:param limit => 1000;

MATCH (to:Page) WHERE coalesce(to.failed, 0.0) > coalesce(to.fetched, 0.0)
CALL (to) {
  MATCH (from:Page)-[:LINKS]->(to) WHERE $host = '' OR from.host = $host
  RETURN from
}
RETURN from.url AS on, to.status AS status, to.error AS error, to.url AS broken
ORDER BY on, broken LIMIT $limit
