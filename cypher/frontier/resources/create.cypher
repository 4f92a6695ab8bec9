// Create the resources that are not in the graph.
//
// param   rows  LIST   in order of the keys: [key, kind, the URL to fetch, the host of that]
// param   now   FLOAT  seconds since the epoch
// rows    none
// locks   the index entry of each new resource, in order of keys
// mode    write
// retry   safe   MERGE on a unique key
UNWIND $rows AS row
MERGE (r:Resource {key: row[0]})
ON CREATE SET r.kind = row[1], r.url = row[2], r.host = row[3], r.discovered = $now
