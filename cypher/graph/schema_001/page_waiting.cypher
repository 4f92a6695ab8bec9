// Where pages wait: the claiming path reads this index in its order.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_waiting IF NOT EXISTS FOR (p:Page) ON (p.queue, p.lane, p.waiting_since)
