// The robots.txt of hosts that have one.
//
// param   names  LIST   host names
// column  rows   LIST   [name, text, text for http alone, text for https alone] of each; null where there is none
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
MATCH (h:Host {name: name}) WHERE h.robots IS NOT NULL OR h.robots_origins IS NOT NULL
RETURN collect([h.name, h.robots, h.robots_http, h.robots_https]) AS rows
