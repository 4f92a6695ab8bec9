// The links of some pages, packed: a result row costs fifty times as much as a list item.
//
// param   ids    LIST  internal ids
// column  links  LIST  source · 2^32 + target, by internal ids, in no order
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p)-[:LINKS]->(q) WHERE id(p) = i
RETURN collect(i * 4294967296 + id(q)) AS links
