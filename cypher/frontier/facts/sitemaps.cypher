// Note that sitemaps name pages, and when one last did.
//
// param   ids   LIST   internal ids; the caller has locked the pages
// param   now   FLOAT  seconds since the epoch
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p.in_sitemap = $now
