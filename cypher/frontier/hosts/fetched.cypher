// Count the pages of hosts that were ever fetched. Reads every page of these hosts.
//
// param   names  LIST   host names
// column  rows   LIST   [name, pages] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
CALL (name) {
  MATCH (p:Page {host: name}) WHERE p.first_fetched IS NOT NULL
  RETURN count(p) AS pages
}
RETURN collect([name, pages]) AS rows
