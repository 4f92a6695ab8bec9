// What was handed out by a caller's key is known by that.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT asked_key IF NOT EXISTS FOR (a:Asked) REQUIRE a.key IS UNIQUE
