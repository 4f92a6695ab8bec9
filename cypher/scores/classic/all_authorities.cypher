// Return the pages, aliases apart, of most authority history, or history and cash, by reading every page.
//
// param   limit         INTEGER  at most this many
// param   cash          FLOAT    1 to count the cash, 0 to leave it out
// column  page          MAP      properties and internal id
// column  out_links     INTEGER  how many pages it links to
// column  in_links      INTEGER  how many pages link to it
// column  redirects_to  STRING   always null here
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.state <> 'alias'
WITH p ORDER BY p.authority_history + $cash * p.authority_cash DESC, p.key LIMIT $limit
RETURN p {.*, id: id(p)} AS page, COUNT { (p)-[:LINKS]->() } AS out_links, COUNT { (p)<-[:LINKS]-() } AS in_links,
       null AS redirects_to
