// Return the page to which each alias, and each page whose links count for its canonical, leads: the first page that
// leads no further, by way of at most ten others. A circle leads nowhere.
//
// param   ids   LIST  internal ids; those of pages that lead nowhere else are passed over
// column  rows  LIST  [id, id of the page it leads to] of those that lead to one
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
CALL (i) {
  MATCH way = (p:Page)-[:REDIRECTS_TO|CANONICAL*1..10]->(q:Page)
  WHERE id(p) = i AND (p.state = 'alias' OR EXISTS { (p)-[:CANONICAL]->() })
    AND q.state <> 'alias' AND NOT EXISTS { (q)-[:CANONICAL]->() } AND q <> p
  RETURN id(q) AS goal ORDER BY length(way) LIMIT 1
}
RETURN collect([i, goal]) AS rows
