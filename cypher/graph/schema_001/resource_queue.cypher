// Resources in the order in which they wait to be claimed, by queue.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX resource_queue IF NOT EXISTS FOR (r:Resource) ON (r.queue, r.due_at)
