// The claims of a call are known by the key that its caller chose.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT asked_key IF NOT EXISTS FOR (a:Asked) REQUIRE a.key IS UNIQUE
