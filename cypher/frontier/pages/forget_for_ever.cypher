// Leave a mark, so that a page never comes back.
//
// param   key   STRING  its key
// param   now   FLOAT   seconds since the epoch
// rows    none
// locks   the mark
// mode    write
// retry   safe   MERGE on a unique key
MERGE (f:Forgotten {key: $key})
ON CREATE SET f.since = $now
