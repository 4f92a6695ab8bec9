// Let the links of pages count for other pages, or for themselves.
//
// param   rows  LIST  [id, id of the page that its links count for, or −1]; the caller has locked all, and the pages that
//                     they counted for
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
CALL (p, row) {
  MATCH (p)-[r:CANONICAL]->(o:Page) WHERE id(o) <> row[1]
  DELETE r
}
CALL (p, row) {
  MATCH (q:Page) WHERE id(q) = row[1]
  MERGE (p)-[:CANONICAL]->(q)
}
