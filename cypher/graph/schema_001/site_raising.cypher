// Hosts a section of which counts for more than before.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX site_raising IF NOT EXISTS FOR (s:Site) ON (s.raising)
