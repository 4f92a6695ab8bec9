// Create links, and delete others. The caller has made sure that none of the former exists.
//
// Both ends of a link to delete are found before the link between them, with a DISTINCT that the planner cannot move. The
// link is then searched from the end with fewer links (`Expand(Into)`). Otherwise all links of one end are expanded for each
// of the others, and a page that loses 50,000 of them takes minutes, not seconds.
//
// param   new    LIST     [id, [ids it now links to]]; the caller has locked both ends
// param   lost   LIST     [id, [ids it no longer links to]]; the caller has locked both ends
// param   now    FLOAT    seconds since the epoch: when the new ones were first seen
// column  made   INTEGER  the number of created links
// column  gone   LIST     [id, id it linked to] of each deleted link, by which the accounts change
// rows    one
// locks   the ends, held already
// mode    write
// retry   once   the caller looks at the links under the lock, in the same transaction
CALL () {
  UNWIND $new AS row
  MATCH (p) WHERE id(p) = row[0]
  UNWIND row[1] AS target
  MATCH (q) WHERE id(q) = target
  CREATE (p)-[:LINKS {since: $now}]->(q)
  RETURN count(*) AS made
}
CALL () {
  UNWIND $lost AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  UNWIND row[1] AS target
  MATCH (q:Page) WHERE id(q) = target
  WITH DISTINCT p, q
  MATCH (p)-[r:LINKS]->(q)
  WITH r, p, q
  DELETE r
  RETURN collect([id(p), id(q)]) AS gone
}
RETURN made, gone
