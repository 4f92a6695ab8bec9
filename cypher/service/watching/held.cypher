// The pages that are held now, the one held longest first.
//
// param   now     FLOAT    seconds since the epoch
// param   limit   INTEGER  how many at most
// column  url     STRING   the page
// column  worker  STRING   by whom; or null
// column  lease   STRING   the claim's token, which has the time of the claim
// column  until   FLOAT    when the lease ends
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.lease_until > $now
RETURN p.url AS url, p.worker AS worker, p.lease AS lease, p.lease_until AS until
ORDER BY p.lease_until LIMIT $limit
