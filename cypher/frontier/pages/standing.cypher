// The properties that decide whether pages wait, and for what.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// column  rows  LIST  [page, key, url, host, state, parked_because, fetched, hinted, linked, lease_until, not_before, leads]
//                     of each; fetched, hinted: whether it ever was; linked: whether a page names it; leads: whether
//                     links to it count for its canonical
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, EXISTS { (p)<-[:LINKS|SPELLS|LEADS_TO|REDIRECTS_TO]-() } AS linked,
     EXISTS { (p)-[:CANONICAL]->() } AS leads,
     p {.key, .url, .host, .state, .parked_because, .first_fetched, .hinted, .lease_until, .not_before} AS m
RETURN collect([page, m.key, m.url, m.host, m.state, m.parked_because, m.first_fetched IS NOT NULL, m.hinted IS NOT NULL,
                linked, m.lease_until, m.not_before, leads]) AS rows
