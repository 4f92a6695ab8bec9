// Hosts whose pages have not all been judged by their robots.txt as it is now.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX host_robots_news IF NOT EXISTS FOR (h:Host) ON (h.robots_news)
