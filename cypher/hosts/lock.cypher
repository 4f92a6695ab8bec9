// Lock hosts and read their manners and state.
//
// param   names  LIST   host names, sorted
// column  rows   LIST   [name, delay or null, most in flight or null, queued, blocked_until or 0, next_at or 0, in_flight, errors]
// rows    one
// locks   the hosts, in order of names; never a page after a host
// mode    write
// retry   safe   writes nothing
UNWIND $names AS name
MATCH (h:Host {name: name})
SET h:Host
WITH h
RETURN collect([h.name, h.delay, h.most_in_flight, coalesce(h.queued, h.resting, false), coalesce(h.blocked_until, 0.0),
                coalesce(h.next_at, 0.0), coalesce(h.in_flight, 0), coalesce(h.errors, 0)]) AS rows
