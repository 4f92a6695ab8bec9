// Lock resources and read them.
//
// param   keys  LIST  keys, sorted
// column  rows  LIST  of each that is there a map of its properties
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
RETURN collect(properties(r)) AS rows
