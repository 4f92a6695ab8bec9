// The pages, aliases apart, of highest hub score, by reading every page: for webs so small that few of their pages have a
// rank.
//
// param   limit         INTEGER  at most this many
// column  page          MAP      properties and internal id
// column  out_links     INTEGER  how many pages it links to
// column  in_links      INTEGER  how many pages link to it
// column  redirects_to  STRING   always null here
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.state <> 'alias'
WITH p ORDER BY p.hub_history + p.hub_cash DESC, p.key LIMIT $limit
RETURN p {.*, id: id(p)} AS page, COUNT { (p)-[:LINKS]->() } AS out_links, COUNT { (p)<-[:LINKS]-() } AS in_links,
       null AS redirects_to
