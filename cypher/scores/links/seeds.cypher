// Make pages seeds because a seed redirects to them. `seed_led` marks those that are seeds for no other reason.
//
// param   rows   LIST  [id of the redirecting page, id it leads to]; the caller has locked both
// rows    none
// locks   the ends, held already
// mode    write
// retry   safe   absolute
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
MATCH (q:Page) WHERE id(q) = row[1]
MERGE (p)-[:SEEDS]->(q)
SET q.seed_led = CASE WHEN q.is_seed AND q.seed_led IS NULL THEN null ELSE true END, q.is_seed = true
