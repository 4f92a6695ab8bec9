// Note which sitemaps the robots.txt of hosts names.
//
// param   rows  LIST  [name, of which robots.txt they are known, their keys]; the caller has locked the hosts
// rows    none
// locks   the hosts, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (h:Host {name: row[0]})
SET h.sitemaps_mark = row[1], h.sitemaps_named = row[2]
