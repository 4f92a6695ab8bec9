// Delete links.
//
// param   rows  LIST  [id, [ids it no longer links to]]; the caller has locked both ends
// column  gone  LIST  [id, id it linked to] of each link that was deleted: the accounts go by these
// rows    one
// locks   the ends, held already
// mode    write
// retry   safe   what is gone is gone
UNWIND $rows AS row
UNWIND row[1] AS target
MATCH (p:Page)-[r:LINKS]->(q:Page) WHERE id(p) = row[0] AND id(q) = target
WITH DISTINCT r, row[0] AS page, target
DELETE r
RETURN collect([page, target]) AS gone
