// Write what has changed of resources.
//
// param   rows  LIST  [key, map of what has changed]; the caller has locked the resources
// rows    none
// locks   the resources, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (r:Resource {key: row[0]})
SET r += row[1]
