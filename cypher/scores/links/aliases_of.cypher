// Return some of the aliases that redirect to a page and are not claimed.
//
// param   id     INTEGER  its internal id
// param   limit  INTEGER  at most this many
// column  ids    LIST     internal ids of aliases
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)<-[:REDIRECTS_TO]-(a:Page) WHERE id(p) = $id AND a.state = 'alias' AND a.lease IS NULL
WITH a LIMIT $limit
RETURN collect(id(a)) AS ids
