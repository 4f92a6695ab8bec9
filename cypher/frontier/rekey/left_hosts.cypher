// Delete hosts that have no page left: their pages have another spelling of them.
//
// param   names  LIST     host names, sorted
// column  gone   INTEGER  how many there were
// rows    one
// locks   the hosts
// mode    write
// retry   safe   what is gone is gone
UNWIND $names AS name
MATCH (h:Host {name: name})
WHERE NOT EXISTS { MATCH (p:Page {host: name}) }
DELETE h
RETURN count(*) AS gone
