// Return the highest internal id of a page, at which an export by ranges of ids ends.
//
// column  last  INTEGER  or null if there is no page
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page)
RETURN max(id(p)) AS last
