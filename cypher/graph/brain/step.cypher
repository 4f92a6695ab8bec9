// Record that steps of the schema were applied.
//
// param   rows  LIST   [the step's number, the checksum of its statements]
// param   now   FLOAT  seconds since the epoch
// rows    none
// locks   the steps
// mode    write
// retry   safe   MERGE
UNWIND $rows AS row
MERGE (s:SchemaStep {number: row[0]})
ON CREATE SET s.checksum = row[1], s.applied = $now
