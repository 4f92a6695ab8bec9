// Count sitemaps that are new.
//
// param   rows  LIST  [host, how many]; the caller has locked the hosts
// rows    none
// locks   the hosts, held already
// mode    write
// retry   once   with the sitemaps, in the transaction that creates these
UNWIND $rows AS row
MATCH (h:Host {name: row[0]})
SET h.sitemaps = coalesce(h.sitemaps, 0) + row[1]
