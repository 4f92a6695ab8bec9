// One (:Site) for each host: what was learned of its sections.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT site_host IF NOT EXISTS FOR (s:Site) REQUIRE s.host IS UNIQUE
