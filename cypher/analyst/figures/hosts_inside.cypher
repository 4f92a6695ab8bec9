// The number of hosts that have a page inside the scope; robots.txt may forbid it. Reads every host, and of each a page or
// few: for sums of all.
//
// column  hosts  INTEGER  these hosts
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host) WHERE EXISTS { MATCH (p:Page {host: h.name}) WHERE NOT (p.state = 'outside' AND p.outside_because = 'scope') }
RETURN count(h) AS hosts
