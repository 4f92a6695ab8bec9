// Return the steps of the schema that were applied to this database.
//
// column  number    INTEGER  the step's number
// column  checksum  STRING   of its statements when it was applied
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (s:SchemaStep)
RETURN s.number AS number, s.checksum AS checksum ORDER BY number
