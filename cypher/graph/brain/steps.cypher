// Return the schema files that were applied to this database.
//
// column  number    INTEGER  the file's number
// column  name      STRING   the file's name
// column  checksum  STRING   of its text when it was applied
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (s:SchemaStep)
RETURN s.number AS number, s.name AS name, s.checksum AS checksum ORDER BY number
