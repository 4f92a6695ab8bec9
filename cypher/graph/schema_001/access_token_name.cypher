// A token for the service is known by its name.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT access_token_name IF NOT EXISTS FOR (t:AccessToken) REQUIRE t.name IS UNIQUE
