// Create the hosts that are not in the graph.
//
// param   names  LIST  host names, sorted
// param   now    FLOAT seconds since the epoch
// rows    none
// locks   the index entry of each new host, in order of names
// mode    write
// retry   safe   MERGE on a unique name
UNWIND $names AS name
MERGE (h:Host {name: name})
ON CREATE SET h.discovered = $now
