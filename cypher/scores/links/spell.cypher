// Write the aliases that pages name in their links, and mark the links that exist only because of these.
//
// Both ends of a link are found first, and then the link from the end with fewer links: see links/write.
//
// param   rows  LIST  [id, [aliases it names now], [aliases it names no more], [ids it links to only through aliases],
//                     [ids it names itself], true if it names any alias, else null]; the caller has locked
//                     all of them
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.spells = row[5]
WITH p, row
CALL (p, row) {
  UNWIND row[1] AS i
  MATCH (a:Page) WHERE id(a) = i
  MERGE (p)-[:SPELLS]->(a)
}
CALL (p, row) {
  UNWIND row[2] AS i
  MATCH (p)-[r:SPELLS]->(a:Page) WHERE id(a) = i
  DELETE r
}
CALL (p, row) {
  UNWIND row[3] AS i
  MATCH (q:Page) WHERE id(q) = i
  WITH DISTINCT p, q
  MATCH (p)-[r:LINKS|LEADS_TO]->(q)
  SET r.via = true, r.anchor = null, r.rel = null
}
CALL (p, row) {
  UNWIND row[4] AS i
  MATCH (q:Page) WHERE id(q) = i
  WITH DISTINCT p, q
  MATCH (p)-[r:LINKS|LEADS_TO]->(q)
  SET r.via = null
}
