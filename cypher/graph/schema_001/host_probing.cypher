// Hosts that do not answer, while a page of theirs is out to see whether they do again.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX host_probing IF NOT EXISTS FOR (h:Host) ON (h.probing)
