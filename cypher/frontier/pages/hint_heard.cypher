// Note that the visits after the dates of a sitemap have been held against these.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p.hint_number = null, p.hint_noted = null, p.hint_after = null
