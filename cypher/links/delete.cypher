// Delete links.
//
// param   rows     LIST     [id, [ids it no longer links to]]; the caller has locked both ends
// column  deleted  INTEGER  how many
// rows    one
// locks   the ends, held already
// mode    write
// retry   safe   what is gone is gone
UNWIND $rows AS row
UNWIND row[1] AS target
MATCH (p:Page)-[r:LINKS]->(q:Page) WHERE id(p) = row[0] AND id(q) = target
DELETE r
RETURN count(*) AS deleted
