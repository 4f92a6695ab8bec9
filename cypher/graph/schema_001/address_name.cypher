// An address is known by its text.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT address_name IF NOT EXISTS FOR (a:Address) REQUIRE a.name IS UNIQUE
