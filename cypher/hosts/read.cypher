// The manners and the state of hosts.
//
// param   names  LIST   host names
// column  rows   LIST   the properties of each that politeness goes by, null where it lacks one
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
MATCH (h:Host {name: name})
RETURN collect(h {.name, .delay, .most_in_flight, .budget, .queued, .resting, .ready_at, .blocked_until, .next_at, .in_flight,
                  .errors, .pace, .response_seconds, .budget_used, .set_aside, .address, .turn_at,
                  .robots_mark, .robots_agent, .robots_delay, .robots_news}) AS rows
