// Some of the pages whose links count for a page.
//
// param   id     INTEGER  its internal id
// param   limit  INTEGER  at most this many
// column  ids    LIST     internal ids
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)<-[:CANONICAL]-(f:Page) WHERE id(p) = $id
WITH f LIMIT $limit
RETURN collect(id(f)) AS ids
