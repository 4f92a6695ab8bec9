// A page that was leased while it got another key was moved once.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT moved_key IF NOT EXISTS FOR (m:Moved) REQUIRE m.key IS UNIQUE
