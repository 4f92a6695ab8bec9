// Pages of a host that were never fetched and count for less.
//
// param   host  STRING  its name
// column  rows  LIST    [id, url, harvest] of each
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page {host: $host}) WHERE p.harvest IS NOT NULL AND p.first_fetched IS NULL
RETURN collect([id(p), p.url, p.harvest]) AS rows
