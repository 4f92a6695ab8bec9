// Remove an index.
//
// param   name  STRING
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF EXISTS
DROP INDEX $name IF EXISTS
