// Pages in a range of ids, as rows of a table: what is asked for of each, and nothing of those that are being deleted.
//
// param   first    INTEGER  the first id
// param   last     INTEGER  the last one
// column  rows     LIST     [id, key, properties, how many it links to, how many link to it, the URL it redirects to or null, of a page
//                           outside the scope [broken, status, fault, error] of its last check as a link, else null] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p, p {.*} AS m WHERE m.key IS NOT NULL
RETURN collect([i, m.key, m, COUNT { (p)-[:LINKS]->() }, COUNT { (p)<-[:LINKS]-() },
                head([(p)-[:REDIRECTS_TO]->(q) | q.url]),
                CASE WHEN m.state = 'outside' THEN head(COLLECT {
                  MATCH (r:Resource {key: 'link:' + m.url}) RETURN [coalesce(r.broken, false), r.status, r.fault, r.error]
                }) END]) AS rows
