// Leases of resources in the order in which they lapse.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX resource_lease_until IF NOT EXISTS FOR (r:Resource) ON (r.lease_until)
