// Return the pages that a page has made seeds by redirecting to them, and to which it no longer redirects as a seed.
//
// param   id   INTEGER  its internal id
// column  ids  LIST     internal ids of the pages
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)-[:SEEDS]->(q:Page)
WHERE id(p) = $id AND NOT (coalesce(p.is_seed, false) AND EXISTS { (p)-[:REDIRECTS_TO|LEADS_TO*1..10]->(q) })
RETURN collect(id(q)) AS ids
