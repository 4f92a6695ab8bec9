// How many pages inside the scope were never fetched.
//
// param   host    STRING   of this host alone; empty: of all
// column  pages   INTEGER  how many
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page) WHERE p.state = 'frontier' AND ($host = '' OR p.host = $host)
RETURN count(p) AS pages
