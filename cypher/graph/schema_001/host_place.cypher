// Ill hosts that wait for a place among those that are probed, the longest waiting first.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX host_place IF NOT EXISTS FOR (h:Host) ON (h.probing, h.place_since)
