// The pages, aliases apart, of highest authority score, among those with a rank (32 and more).
//
// A rank holds scores within a factor of 2^(1/4), so the last one is read whole.
//
// param   first         INTEGER  the first rank there is
// param   limit         INTEGER  at most this many, and the rest of the last rank
// column  page          MAP      properties and internal id
// column  out_links     INTEGER  how many pages it links to
// column  in_links      INTEGER  how many pages link to it
// column  redirects_to  STRING   always null here
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.authority_rank >= $first AND p.state <> 'alias'
WITH p ORDER BY p.authority_rank DESC LIMIT $limit
WITH min(p.authority_rank) AS least
MATCH (p:Page) WHERE p.authority_rank >= least AND p.state <> 'alias'
WITH p ORDER BY p.authority_history + p.authority_cash DESC, p.key LIMIT $limit
RETURN p {.*, id: id(p)} AS page, COUNT { (p)-[:LINKS]->() } AS out_links, COUNT { (p)<-[:LINKS]-() } AS in_links,
       null AS redirects_to
