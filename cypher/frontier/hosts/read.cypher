// The manners and the state of hosts.
//
// param   names  LIST   host names
// column  rows   LIST   the properties of each that politeness uses, in the order of COLUMNS in graphbrain/frontier/hosts/state.py,
//                       null where it lacks one; then, if it has failed since it last answered well or waits for a probe,
//                       a list by FAILING_COLUMNS, else null
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
MATCH (h:Host {name: name})
WITH h {.name, .delay, .most_in_flight, .budget, .queued, .resting, .ready_at, .blocked_until, .next_at, .in_flight,
        .errors, .pace, .response_seconds, .budget_used, .set_aside, .address, .turn_at, .robots_mark, .robots_agent,
        .robots_delay, .robots_news, .slowed_at, .robots_origins, .well_at, .retrying, .since_retry, .tried_all, .ripe_at,
        .blocked_at, .recovered_at, .robots_times, .robots_hold, .robots_held_at, .noise, .unanswered, .unanswered_at, .probe_at,
        .probing, .failing, .failing_at, .failing_since, .illness, .place_since} AS m
RETURN collect([m.name, m.delay, m.most_in_flight, m.budget, m.queued, m.resting, m.ready_at, m.blocked_until,
                m.next_at, m.in_flight, m.errors, m.pace, m.response_seconds, m.budget_used,
                m.set_aside, m.address, m.turn_at, m.robots_mark, m.robots_agent, m.robots_delay,
                m.robots_news, m.slowed_at, m.robots_origins, m.well_at, m.retrying, m.since_retry,
                m.tried_all, m.ripe_at, m.blocked_at, m.recovered_at, m.robots_times, m.robots_hold, m.robots_held_at,
                m.noise,
                CASE WHEN m.failing IS NOT NULL OR m.unanswered IS NOT NULL OR m.probing IS NOT NULL THEN
                  [m.unanswered, m.unanswered_at, m.probe_at, m.probing, m.failing, m.failing_at, m.failing_since,
                   m.illness, m.place_since]
                END]) AS rows
