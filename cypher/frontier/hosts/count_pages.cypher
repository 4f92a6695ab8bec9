// How many pages some hosts have.
//
// param   names  LIST     of the hosts
// column  pages  INTEGER  all together
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
MATCH (p:Page {host: name})
RETURN count(p) AS pages
