// The queue of one line of resources of one host is known by its key.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT resource_queue_key IF NOT EXISTS FOR (q:ResourceQueue) REQUIRE q.key IS UNIQUE
