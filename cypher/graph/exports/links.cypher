// Return the pages in a range of ids, and their links, packed: a row costs fifty times as much as a list item.
//
// param   first  INTEGER  internal id
// param   last   INTEGER  internal id, in the range
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
  MATCH (p)-[:LINKS|LEADS_TO]->(q) WHERE id(p) = i
  RETURN collect((i - $first) * 140737488355328 + id(q)) AS links
}
RETURN ids, links
