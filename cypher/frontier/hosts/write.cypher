// Write the changes of hosts: when they may be visited next, how many of their pages are claimed, their queues and
// their politeness.
//
// param   rows  LIST  [name, map of what has changed]; the caller has locked the hosts
// rows    none
// locks   the hosts, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (h:Host {name: row[0]})
SET h += row[1]
