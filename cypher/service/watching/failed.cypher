// The last pages that failed.
//
// param   since   FLOAT    seconds since the epoch
// param   limit   INTEGER  how many at most
// column  url     STRING   the page
// column  failed  FLOAT    when
// column  status  INTEGER  what the server answered; or null
// column  fault   STRING   how it failed; or null
// column  error   STRING   the description of the failure; or null
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.failed >= $since
WITH p ORDER BY p.failed DESC WHERE p.failed > coalesce(p.fetched, 0.0)
WITH p ORDER BY p.failed DESC, p.url LIMIT $limit
RETURN p.url AS url, p.failed AS failed, p.status AS status, p.fault AS fault, p.error AS error
ORDER BY failed DESC, url
