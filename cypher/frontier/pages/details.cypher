// Everything about some pages.
//
// param   ids    LIST  internal ids
// column  rows   LIST  [properties and internal id, how many it links to, how many link to it, the URL it redirects to or null] of each,
//                      in the order of ids
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([p {.*, id: id(p)}, COUNT { (p)-[:LINKS]->() }, COUNT { (p)<-[:LINKS]-() },
                head([(p)-[:REDIRECTS_TO]->(q) | q.url])]) AS rows
