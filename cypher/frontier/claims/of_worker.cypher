// The claims that a worker holds: of pages, robots.txt, sitemaps and links.
//
// param   worker  STRING  its name
// param   now     FLOAT   seconds since the epoch
// column  url     STRING  what is held
// column  key     STRING  its key
// column  token   STRING  the claim's token
// rows    many
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page) WHERE p.lease_until > $now AND p.worker = $worker
  RETURN p.url AS url, p.key AS key, p.lease AS token
  UNION ALL
  MATCH (r:Resource) WHERE r.lease_until > $now AND r.worker = $worker
  RETURN r.url AS url, r.key AS key, r.lease AS token
}
RETURN url, key, token
