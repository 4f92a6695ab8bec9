// Hosts with a queue of their own, in the order in which they may be visited.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX host_ready IF NOT EXISTS FOR (h:Host) ON (h.queued, h.ready_at)
