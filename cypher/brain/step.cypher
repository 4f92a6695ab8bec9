// Remember that a schema file was applied.
//
// param   number    INTEGER  the file's number
// param   name      STRING   the file's name
// param   checksum  STRING   of its text
// param   now       FLOAT    seconds since the epoch
// rows    none
// locks   the step
// mode    write
// retry   safe   MERGE
MERGE (s:SchemaStep {number: $number})
ON CREATE SET s.name = $name, s.checksum = $checksum, s.applied = $now
