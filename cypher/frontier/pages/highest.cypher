// The pages, aliases apart, of highest batch score, relevance or value, by reading every page: these have no index.
//
// param   name          STRING   the property, or 'cash', which is both sides' together
// param   limit         INTEGER  at most this many
// column  page          MAP      properties and internal id
// column  out_links     INTEGER  how many pages it links to
// column  in_links      INTEGER  how many pages link to it
// column  redirects_to  STRING   the URL it redirects to, or null
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.state <> 'alias'
WITH p, CASE $name WHEN 'cash' THEN p.hub_cash + p.authority_cash ELSE p[$name] END AS score WHERE score IS NOT NULL
WITH p ORDER BY score DESC, p.key LIMIT $limit
RETURN p {.*, id: id(p)} AS page, COUNT { (p)-[:LINKS]->() } AS out_links, COUNT { (p)<-[:LINKS]-() } AS in_links,
       head([(p)-[:REDIRECTS_TO]->(q) | q.url]) AS redirects_to
