// All properties of hosts.
//
// param   names  LIST  host names, sorted
// column  rows   LIST  the properties of each that is there
// rows    one
// locks   the hosts, in order of names
// mode    write
// retry   safe   writes nothing
UNWIND $names AS name
MATCH (locked:Host {name: name})
SET locked:Host
WITH collect(id(locked)) AS held
UNWIND held AS i
MATCH (h:Host) WHERE id(h) = i
RETURN collect(properties(h)) AS rows
