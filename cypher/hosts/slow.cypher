// Block hosts for a time, and count how often in a row they asked for it.
//
// param   rows  LIST  [name, blocked_until or null, errors or null]; the caller has locked the hosts
// rows    none
// locks   the hosts, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (h:Host {name: row[0]})
SET h.blocked_until = row[1], h.errors = row[2]
