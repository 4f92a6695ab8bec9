// A page forgotten for ever leaves only its key.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT forgotten_key IF NOT EXISTS FOR (f:Forgotten) REQUIRE f.key IS UNIQUE
