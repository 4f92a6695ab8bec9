// Some of the aliases that lead to a page, by way of others too, and that pages name who do not link to where it leads.
//
// param   id     INTEGER  its internal id
// param   end    INTEGER  internal id of where it leads, itself if it is no alias, −1 if nowhere
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
