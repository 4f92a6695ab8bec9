// Return some aliases that lead to a page, also through others, and that a page names without a link to the final target.
//
// param   id     INTEGER  its internal id
// param   end    INTEGER  internal id of the final target, the page itself if it is no alias, −1 if there is none
// param   limit  INTEGER  at most this many are looked at
// column  ids    LIST     internal ids of aliases
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)<-[:REDIRECTS_TO*1..10]-(a:Page) WHERE id(p) = $id AND a <> p AND EXISTS { (a)<-[:SPELLS]-() }
WITH DISTINCT a LIMIT $limit
WHERE EXISTS {
  MATCH (a)<-[:SPELLS]-(q:Page)
  WHERE id(q) <> $end AND NOT EXISTS { MATCH (q)-[:LINKS]->(g:Page) WHERE id(g) = $end }
}
RETURN collect(id(a)) AS ids
