// How many pages hosts have, by the index of hosts: no page is read.
//
// param   names  LIST     host names
// param   limit  INTEGER  count no more of each than this
// column  rows   LIST     [name, pages] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
CALL (name) {
  MATCH (p:Page {host: name}) WITH p LIMIT $limit
  RETURN count(p) AS pages
}
RETURN collect([name, pages]) AS rows
