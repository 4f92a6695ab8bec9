// Return some pages whose links do not end at the final target of a page that they name: those that link to it although
// it leads elsewhere, and those that name it and do not link to its goal, or still link to an earlier one.
//
// param   id     INTEGER  its internal id
// param   goal   INTEGER  internal id of its final target, −1 if it is no alias, or one without a target
// param   limit  INTEGER  at most this many of each
// column  ids    LIST     internal ids of the pages
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page)<-[:LINKS|LEADS_TO]-(q:Page) WHERE id(p) = $id AND $goal >= 0
  WITH q LIMIT $limit
  RETURN collect(id(q)) AS linking
}
CALL (linking) {
  // Not before all of the former have moved: those that have are met here.
  MATCH (p:Page)<-[:SPELLS]-(q:Page)
  WHERE size(linking) < $limit AND id(p) = $id
    AND ((id(q) <> $goal AND NOT EXISTS { MATCH (q)-[:LINKS|LEADS_TO]->(g:Page) WHERE id(g) = $goal })
         OR EXISTS { MATCH (q)-[r:LINKS|LEADS_TO]->(g:Page) WHERE r.via AND NOT EXISTS { (q)-[:SPELLS]->(:Page)-[:REDIRECTS_TO|CANONICAL*1..10]->(g) } })
  WITH q LIMIT $limit
  RETURN collect(id(q)) AS naming
}
RETURN linking + naming AS ids
