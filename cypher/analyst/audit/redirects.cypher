// How some pages redirect, and those that links should not end at because they are aliases with a goal.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// column  rows  LIST  [id, number of LINKS out, number of LEADS_TO out, number of REDIRECTS_TO out, its state, led_by or null,
//                     is it to be looked at, or a page to which it leads] of those that redirect, or once did
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p, COUNT { (p)-[:LEADS_TO]->() } AS leads, COUNT { (p)-[:REDIRECTS_TO]->() } AS redirects
WHERE leads > 0 OR redirects > 0 OR p.state = 'alias' OR p.led_by IS NOT NULL
RETURN collect([i, COUNT { (p)-[:LINKS]->() }, leads, redirects, p.state, p.led_by,
                EXISTS { (p)-[:REDIRECTS_TO*0..10]->(q:Page) WHERE q.look_again IS NOT NULL }]) AS rows
