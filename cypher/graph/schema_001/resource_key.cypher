// A resource, which is claimed as a page is and is no page, is known by its key.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT resource_key IF NOT EXISTS FOR (r:Resource) REQUIRE r.key IS UNIQUE
