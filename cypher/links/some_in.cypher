// Some of the pages that link to a page.
//
// param   id     INTEGER  its internal id
// param   limit  INTEGER  at most this many
// column  ids    LIST     internal ids of pages that link to it
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)<-[:LINKS]-(q:Page) WHERE id(p) = $id
WITH q LIMIT $limit
RETURN collect(id(q)) AS ids
