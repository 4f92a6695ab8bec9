// Some of the pages that link to each of these.
//
// param   ids    LIST     internal ids
// param   limit  INTEGER  at most this many for each
// column  rows   LIST     [id, [ids of pages that link to it]] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
CALL (i) {
  MATCH (p:Page)<-[:LINKS]-(q:Page) WHERE id(p) = i
  WITH q LIMIT $limit
  RETURN collect(id(q)) AS near
}
RETURN collect([i, near]) AS rows
