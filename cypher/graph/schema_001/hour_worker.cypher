// Counters, one node for each hour and worker.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE CONSTRAINT hour_worker IF NOT EXISTS FOR (c:Hour) REQUIRE (c.hour, c.worker) IS UNIQUE
