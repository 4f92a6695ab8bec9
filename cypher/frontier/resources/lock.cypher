// Lock resources and read them.
//
// param   keys  LIST  keys, sorted
// column  rows  LIST  of each that is there its properties, in the order of COLUMNS in graphbrain/hosts/origins.py; null
//                     where it lacks one
// rows    one
// locks   the resources, in order of keys; after pages and before hosts
// mode    write
// retry   safe   writes nothing
UNWIND $keys AS key
MATCH (locked:Resource {key: key})
SET locked:Resource
WITH collect(id(locked)) AS held
UNWIND held AS i
MATCH (r:Resource) WHERE id(r) = i
RETURN collect([r.key, r.url, r.host, r.redirects, r.fetched, r.failed, r.failing_since, r.due_at, r.lease,
                r.lease_until, r.worker, r.counted, r.counted_at, r.last_lease, r.last_outcome]) AS rows
