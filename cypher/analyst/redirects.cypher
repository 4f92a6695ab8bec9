// Redirects, by how many links still name the old address
//
// A row is a page that redirects for good. `named` links still spell the old address, and could be mended. Redirects to
// it are not counted.
//
// group     Errors
// param     limit  how many redirects
:param limit => 100;

MATCH (a:Page)-[:REDIRECTS_TO]->(b:Page)
RETURN COUNT { (a)<-[:SPELLS|LINKS]-(p:Page) WHERE p.state <> 'alias' } AS named, a.status AS status, a.url AS from, b.url AS to
ORDER BY named DESC, from LIMIT $limit
