// Return the pages of a range of internal ids.
//
// param   first  INTEGER  the lowest id
// param   limit  INTEGER  the length of the range
// column  ids    LIST     ids of pages in it
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range($first, $first + $limit - 1) AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect(id(p)) AS ids
