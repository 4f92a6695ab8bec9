// Return the robots.txt of a host and its sitemaps: those that it names, or those that were guessed because it names
// none.
//
// param   name   STRING   host name
// param   keys   LIST     the keys that its robots.txt have
// param   limit  INTEGER  sitemaps at most
// column  rows   LIST     of each that is there a map of its properties, robots.txt first
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host {name: $name})
UNWIND $keys + coalesce(h.sitemaps_named, [])[..$limit] AS key
MATCH (r:Resource {key: key})
RETURN collect(properties(r)) AS rows
