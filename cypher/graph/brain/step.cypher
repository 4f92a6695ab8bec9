// Record that schema files were applied.
//
// param   rows  LIST   [the file's number, its name, the checksum of its text]
// param   now   FLOAT  seconds since the epoch
// rows    none
// locks   the steps
// mode    write
// retry   safe   MERGE
UNWIND $rows AS row
MERGE (s:SchemaStep {number: row[0]})
ON CREATE SET s.name = row[1], s.checksum = row[2], s.applied = $now
