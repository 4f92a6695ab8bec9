// Set a host's own delay and limit.
//
// param   name   STRING   host name; the caller has locked it
// param   delay  FLOAT    seconds between two claims, or null for the brain's
// param   most   INTEGER  most pages in flight, 0 for no limit, or null for the brain's
// rows    none
// locks   the host, held already
// mode    write
// retry   safe   absolute values
MATCH (h:Host {name: $name})
SET h.delay = $delay, h.most_in_flight = $most
