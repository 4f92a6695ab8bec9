// Delete links, and create others. The caller has made sure that none of the latter exists afterwards beside one that stays.
//
// Both ends of a link to delete are found before the link between them, with a DISTINCT that the planner cannot move. The
// link is then searched from the end with fewer links (`Expand(Into)`). Otherwise all links of one end are expanded for each
// of the others, and a page that loses 50,000 of them takes minutes, not seconds.
//
// param   lost     LIST     [id, [ids it no longer links or leads to]]; the caller has locked both ends
// param   new      LIST     [id, [ids it now links to]]; the caller has locked both ends
// param   leading  LIST     [id, [ids it leads to for now], the status of its answer]; the caller has locked both ends
// param   now      FLOAT    seconds since the epoch: when the new ones were first seen
// column  made     INTEGER  the number of created links, LEADS_TO among them
// column  gone     LIST     [id, id it linked to] of each deleted link, by which the accounts change
// rows    one
// locks   the ends, held already
// mode    write
// retry   once   the caller looks at the links under the lock, in the same transaction
CALL () {
  UNWIND $lost AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  UNWIND row[1] AS target
  MATCH (q:Page) WHERE id(q) = target
  WITH DISTINCT p, q
  MATCH (p)-[r:LINKS|LEADS_TO]->(q)
  WITH r, p, q
  DELETE r
  RETURN collect([id(p), id(q)]) AS gone
}
CALL () {
  UNWIND $new AS row
  MATCH (p) WHERE id(p) = row[0]
  UNWIND row[1] AS target
  MATCH (q) WHERE id(q) = target
  CREATE (p)-[:LINKS {since: $now}]->(q)
  RETURN count(*) AS links
}
CALL () {
  UNWIND $leading AS row
  MATCH (p) WHERE id(p) = row[0]
  UNWIND row[1] AS target
  MATCH (q) WHERE id(q) = target
  CREATE (p)-[:LEADS_TO {since: $now, status: row[2]}]->(q)
  RETURN count(*) AS leads
}
RETURN links + leads AS made, gone
