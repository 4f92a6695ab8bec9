// The URLs a page links to, and those that link to it.
//
// param   key           STRING  its key
// column  successors    LIST    URLs it links to
// column  predecessors  LIST    URLs that link to it
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page {key: $key})
RETURN [(p)-[:LINKS]->(q) | q.url] AS successors, [(p)<-[:LINKS]-(q) | q.url] AS predecessors
