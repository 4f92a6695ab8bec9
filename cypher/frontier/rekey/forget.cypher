// Delete pages that have become one with others, and have no links left.
//
// param   ids   LIST  internal ids; the caller has locked the pages and unlinked them
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   what is gone is gone
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
OPTIONAL MATCH (p)-[r:REDIRECTS_TO|CANONICAL|SPELLS|SEEDS]-()
DELETE r
WITH DISTINCT p
DELETE p
