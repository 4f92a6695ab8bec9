// Record the links' texts and rel of visits, for later questions.
//
// param   rows  LIST  [id, id it links to, anchor or null, rel or null]; the caller has locked the pages that link
// rows    none
// locks   the links; the pages that link, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
MATCH (q:Page) WHERE id(q) = row[1]
MATCH (p)-[r:LINKS]->(q)
SET r.anchor = row[2], r.rel = row[3]
