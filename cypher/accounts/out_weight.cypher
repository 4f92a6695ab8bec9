// Write the weight of out-links, and hold it against the links that are there now.
//
// param   rows  LIST     [id, weight]; the caller has locked the pages
// param   even  BOOLEAN  whether every link weighs 1: else the weights are not held against anything
// column  wrong  LIST    ids of those that have not as many links
// rows    one
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.out_weight = row[1]
WITH row, COUNT { (p)-[:LINKS]->() } AS links
RETURN collect(CASE WHEN $even AND abs(links - row[1]) > 1e-6 * (1.0 + links) THEN row[0] END) AS wrong
