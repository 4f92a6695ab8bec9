// Lock hosts and read their manners and state.
//
// param   names  LIST   host names, sorted
// column  rows   LIST   the properties of each that politeness goes by, null where it lacks one
// rows    one
// locks   the hosts, in order of names; never a page after a host
// mode    write
// retry   safe   writes nothing
UNWIND $names AS name
MATCH (h:Host {name: name})
SET h:Host
WITH h
RETURN collect(h {.name, .delay, .most_in_flight, .budget, .queued, .resting, .ready_at, .blocked_until, .next_at, .in_flight,
                  .errors, .pace, .response_seconds, .budget_used, .set_aside, .address, .turn_at,
                  .robots_mark, .robots_agent, .robots_delay, .robots_news}) AS rows
