// Return the final targets of aliases: through at most ten others, the first page that redirects no more. A circle has none.
//
// param   ids   LIST  internal ids; those of pages that are no aliases are skipped
// column  rows  LIST  [id, id of the final target] of those that have one
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
CALL (i) {
  MATCH way = (p:Page)-[:REDIRECTS_TO*1..10]->(q:Page) WHERE id(p) = i AND p.state = 'alias' AND q.state <> 'alias' AND q <> p
  RETURN id(q) AS goal ORDER BY length(way) LIMIT 1
}
RETURN collect([i, goal]) AS rows
