// There is one brain in a database.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT brain_key IF NOT EXISTS FOR (b:Brain) REQUIRE b.key IS UNIQUE
