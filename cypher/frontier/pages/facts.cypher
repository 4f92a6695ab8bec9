// Set the properties of a page that the schedule uses: its value, the belief on its rate, its interval.
//
// param   id     INTEGER  internal id; the caller has locked the page
// param   facts  MAP      names and values; null takes one away
// rows    none
// locks   the page, held already
// mode    write
// retry   safe   absolute values
MATCH (p:Page) WHERE id(p) = $id
SET p += $facts
