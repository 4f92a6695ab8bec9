// Say that pages no longer redirect.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// rows    none
// locks   the pages, held already, and where they redirected
// mode    write
// retry   safe   what is gone is gone
UNWIND $ids AS i
MATCH (p:Page)-[r:REDIRECTS_TO]->() WHERE id(p) = i
DELETE r
