// Write when addresses may be asked next, how many claims of their hosts are out, and how far turns are given out.
//
// param   rows  LIST  [name, map of what has changed]; the caller has locked the addresses
// rows    none
// locks   the addresses, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (a:Address {name: row[0]})
SET a += row[1]
