// Remove an index.
//
// param   name  STRING   of the index
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF EXISTS
DROP INDEX $name IF EXISTS
