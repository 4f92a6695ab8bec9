// Pages whose in-links are to be looked at now, those that have waited longest first.
//
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many
// column  ids    LIST     internal ids
// column  aliases  LIST   those among them that are aliases
// column  named  LIST     those that are none, and that others name or lead to as if they were, or whose links count for others, or that led a seed on
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.look_again <= $now
WITH p ORDER BY p.look_again LIMIT $limit
WITH id(p) AS page, p.state = 'alias' AS alias, EXISTS { (p)<-[:SPELLS|REDIRECTS_TO]-() } OR EXISTS { (p)-[:CANONICAL]-() } OR EXISTS { (p)-[:SEEDS]->() } AS named
RETURN collect(page) AS ids, [page IN collect(CASE WHEN alias THEN page END) WHERE page IS NOT NULL] AS aliases,
       [page IN collect(CASE WHEN named AND NOT alias THEN page END) WHERE page IS NOT NULL] AS named
