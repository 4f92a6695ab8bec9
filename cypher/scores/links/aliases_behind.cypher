// Some of the aliases, and pages whose links count for others, that lead to a page, by way of others too, and that pages link to,
// or name without a link to where it leads.
//
// param   id     INTEGER  its internal id
// param   end    INTEGER  internal id of where it leads, itself if it does not lead on, −1 if nowhere
// param   limit  INTEGER  at most this many are looked at
// column  ids    LIST     internal ids of aliases
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)<-[:REDIRECTS_TO|CANONICAL*1..10]-(a:Page) WHERE id(p) = $id AND a <> p AND EXISTS { (a)<-[:SPELLS|LINKS|LEADS_TO]-() }
WITH DISTINCT a LIMIT $limit
WHERE ($end >= 0 AND EXISTS { (a)<-[:LINKS|LEADS_TO]-() }) OR EXISTS {
  MATCH (a)<-[:SPELLS]-(q:Page)
  WHERE (id(q) <> $end AND NOT EXISTS { MATCH (q)-[:LINKS|LEADS_TO]->(g:Page) WHERE id(g) = $end })
     OR EXISTS { MATCH (q)-[r:LINKS|LEADS_TO]->(g:Page) WHERE r.via AND NOT EXISTS { (q)-[:SPELLS]->(:Page)-[:REDIRECTS_TO|CANONICAL*1..10]->(g) } }
}
RETURN collect(id(a)) AS ids
