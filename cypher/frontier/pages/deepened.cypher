// Pages whose lower depth has still to be passed on, the lowest first.
//
// param   limit  INTEGER  at most this many
// column  ids    LIST     internal ids
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.depth_lowered >= 0
WITH p ORDER BY p.depth_lowered LIMIT $limit
RETURN collect(id(p)) AS ids
