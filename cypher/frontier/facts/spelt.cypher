// Record the texts and rel of visits' links that name aliases.
//
// param   rows  LIST  [id, id of the alias that it names, anchor or null, rel or null]; the caller has locked the pages
//                     that link
// rows    none
// locks   the links; the pages that link, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
MATCH (a:Page) WHERE id(a) = row[1]
MATCH (p)-[r:SPELLS]->(a)
SET r.anchor = row[2], r.rel = row[3]
