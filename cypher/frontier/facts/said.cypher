// The text and rel of some pages' links to a page, or to the alias that it is.
//
// param   ids   LIST     internal ids; the caller has locked the pages
// param   page  INTEGER  internal id of what they name
// column  rows  LIST     [id, anchor or null, rel or null] of those that have one
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
MATCH (q:Page) WHERE id(q) = $page
MATCH (p)-[r:LINKS|SPELLS]->(q) WHERE r.anchor IS NOT NULL OR r.rel IS NOT NULL
RETURN collect([i, r.anchor, r.rel]) AS rows
