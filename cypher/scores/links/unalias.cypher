// End the redirects of pages, which are then no longer looked at again as aliases.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// rows    none
// locks   the pages, held already, and where they redirected
// mode    write
// retry   safe   what is gone is gone
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p.alias_since = null, p.recheck_at = null
WITH p
MATCH (p)-[r:REDIRECTS_TO]->()
DELETE r
