// Everything about one page.
//
// param   key           STRING  its key
// column  page          MAP     its properties and internal id
// column  out_links     INTEGER how many pages it links to
// column  in_links      INTEGER how many pages link to it
// column  redirects_to  STRING  the URL it redirects to, or null
// rows    many
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page {key: $key})
RETURN p {.*, id: id(p)} AS page, COUNT { (p)-[:LINKS]->() } AS out_links, COUNT { (p)<-[:LINKS]-() } AS in_links,
       head([(p)-[:REDIRECTS_TO]->(q) | q.url]) AS redirects_to
