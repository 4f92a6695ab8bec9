// The next pages in the order of their keys, for passes over the whole graph.
//
// param   after  STRING   the last key of the batch before, or ''
// param   limit  INTEGER  at most this many
// column  ids    LIST     internal ids
// column  last   STRING   the last key, or null at the end
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.key > $after
WITH p ORDER BY p.key LIMIT $limit
RETURN collect(id(p)) AS ids, max(p.key) AS last
