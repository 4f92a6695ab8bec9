// Those of some pages to which no page links.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// column  ids   LIST  those without in-links
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i AND NOT EXISTS { (p)<-[:LINKS]-() }
RETURN collect(id(p)) AS ids
