// Queues of resources in the order in which their first one can be claimed, by line.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX resource_queue_at IF NOT EXISTS FOR (q:ResourceQueue) ON (q.line, q.at)
