// Give pages another address, and create the host of the address if it is new.
//
// param   rows  LIST   [id, url, host, name, url_surplus or null, rounds of redirects to spellings or null,
//                      path_repeats or null, url_weight or null for 1]; the caller has locked
//                      the pages, and those whose host changes are in no queue of a host
// param   now   FLOAT  seconds since the epoch
// rows    none
// locks   the hosts that are created
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.url = row[1], p.name = row[3], p.url_surplus = row[4], p.respelt = row[5], p.path_repeats = row[6],
    p.url_weight = row[7]
WITH p, row WHERE p.host <> row[2]
MERGE (h:Host {name: row[2]})
ON CREATE SET h.discovered = $now
SET p.host = row[2]
