// The manners and the state of hosts.
//
// param   names  LIST   host names
// column  rows   LIST   [name, delay or null, most in flight or null, queued, blocked_until or 0, next_at or 0, in_flight, errors]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
MATCH (h:Host {name: name})
RETURN collect([h.name, h.delay, h.most_in_flight, coalesce(h.queued, h.resting, false), coalesce(h.blocked_until, 0.0),
                coalesce(h.next_at, 0.0), coalesce(h.in_flight, 0), coalesce(h.errors, 0)]) AS rows
