// Return the numbers of pages, links and hosts, from the count store.
//
// column  pages  INTEGER  pages known
// column  links  INTEGER  links known
// column  hosts  INTEGER  hosts known
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () { MATCH (p:Page) RETURN count(p) AS pages }
CALL () { MATCH ()-[r:LINKS]->() RETURN count(r) AS links }
CALL () { MATCH (h:Host) RETURN count(h) AS hosts }
RETURN pages, links, hosts
