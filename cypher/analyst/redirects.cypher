// Redirects, by how many links still name the old address
//
// A row is a page that redirects for good. `named` links still spell the old address, and could be mended, with three of the
// pages that have them; links-to-redirects has all. Redirects to it are not counted.
//
// group     Errors
// param     limit  how many redirects
:param limit => 100;

MATCH (a:Page)-[:REDIRECTS_TO]->(b:Page)
WITH a, b, COUNT { (a)<-[r:SPELLS|LINKS]-(p:Page) WHERE r.via IS NULL AND p.state <> 'alias' AND p.led_by IS NULL } AS named ORDER BY named DESC, a.url LIMIT $limit
CALL (a) {
  MATCH (a)<-[r:SPELLS|LINKS]-(p:Page) WHERE r.via IS NULL AND p.state <> 'alias' AND p.led_by IS NULL
  WITH p.url AS url ORDER BY url LIMIT 3
  RETURN collect(url) AS linked_from
}
RETURN named, a.status AS status, linked_from, a.url AS from, b.url AS to
ORDER BY named DESC, from
