// Hosts whose pages were all visited too lately, in the order in which the first of them may be visited again.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX host_rested IF NOT EXISTS FOR (h:Host) ON (h.resting, h.ready_at)
