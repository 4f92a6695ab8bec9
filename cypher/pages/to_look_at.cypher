// Pages whose in-links are to be looked at now, those that have waited longest first.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many
// column  ids    LIST     internal ids
// column  aliases  LIST   those among them that are aliases
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.look_again <= $now
WITH p ORDER BY p.look_again LIMIT $limit
RETURN collect(id(p)) AS ids, [page IN collect(CASE WHEN p.state = 'alias' THEN id(p) END) WHERE page IS NOT NULL] AS aliases
