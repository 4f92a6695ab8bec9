// End the effect of a page that makes others seeds.
//
// param   id     INTEGER  its internal id
// param   ids    LIST     internal ids of those that it makes seeds no more; the caller has locked all of them
// column  freed  LIST     those among them that are no seeds now, because no other page makes them so
// rows    one
// locks   the pages, held already
// mode    write
// retry   once   the answer names the changes of this run
UNWIND $ids AS i
MATCH (p:Page)-[r:SEEDS]->(q:Page) WHERE id(p) = $id AND id(q) = i
DELETE r
WITH DISTINCT q WHERE q.seed_led AND NOT EXISTS { MATCH (q)<-[:SEEDS]-(o:Page) WHERE id(o) <> $id }
SET q.is_seed = null, q.seed_led = null
RETURN collect(id(q)) AS freed
