// Return the pages in a range of ids, and their links of some types, packed: a row costs fifty times as much as a list item.
//
// param   first  INTEGER  internal id
// param   last   INTEGER  internal id, in the range
// param   types  LIST     of LINKS, LEADS_TO, REDIRECTS_TO: those that are wanted
// column  ids    LIST     of the pages, ascending
// column  links  LIST     (source - first) · 2^47 + target, by internal ids, in no order
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH collect(id(p)) AS ids
CALL (ids) {
  UNWIND ids AS i
  MATCH (p)-[r:LINKS|LEADS_TO|REDIRECTS_TO]->(q) WHERE id(p) = i AND type(r) IN $types
  RETURN collect((i - $first) * 140737488355328 + id(q)) AS links
}
RETURN ids, links
