// What links waste: how many lead to pages that fail, how many name redirects, and how many of these name a redirect
// that leads to another one, with what is paid along them.
//
// column  rows   LIST   [fault, links, what the pages that have them pay along them] of each fault
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
CALL () {
  MATCH (p:Page) WHERE coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
  MATCH (p)<-[:LINKS]-(from:Page) WHERE from.state <> 'alias'
  RETURN count(*) AS broken, coalesce(sum(from.hub_paid), 0.0) AS broken_paid
}
CALL () {
  MATCH (a:Page) WHERE a.state = 'alias'
  MATCH (a)<-[r:SPELLS|LINKS]-(from:Page) WHERE r.via IS NULL AND from.state <> 'alias'
  RETURN count(*) AS named, coalesce(sum(from.hub_paid), 0.0) AS named_paid
}
CALL () {
  MATCH (a:Page)-[:REDIRECTS_TO]->(next:Page) WHERE a.state = 'alias' AND EXISTS { (next)-[:REDIRECTS_TO]->() }
  MATCH (a)<-[r:SPELLS|LINKS]-(from:Page) WHERE r.via IS NULL AND from.state <> 'alias'
  RETURN count(*) AS chained, coalesce(sum(from.hub_paid), 0.0) AS chained_paid
}
RETURN [['broken', broken, broken_paid], ['named', named, named_paid], ['chained', chained, chained_paid]] AS rows
