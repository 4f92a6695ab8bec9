// Leases in the order in which they lapse.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_lease_until IF NOT EXISTS FOR (p:Page) ON (p.lease_until)
