// The robots.txt of hosts that have one.
//
// param   names  LIST   host names
// column  rows   LIST   [name, text] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
MATCH (h:Host {name: name}) WHERE h.robots IS NOT NULL
RETURN collect([h.name, h.robots]) AS rows
