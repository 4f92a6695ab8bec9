// How many pages wait for their first visit. Those whose visits have failed do not count.
//
// param   host    STRING   of this host alone; empty: of all
// column  pages   INTEGER  how many
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page) WHERE p.state = 'frontier' AND p.failed IS NULL AND ($host = '' OR p.host = $host)
RETURN count(p) AS pages
