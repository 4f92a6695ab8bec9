// The manners and the state of hosts.
//
// param   names  LIST   host names
// column  rows   LIST   the properties of each that politeness uses, in the order of COLUMNS in graphbrain/hosts/state.py,
//                       null where it lacks one; then, if it has failed since it last answered well, a list by
//                       FAILING_COLUMNS, else null
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
MATCH (h:Host {name: name})
RETURN collect([h.name, h.delay, h.most_in_flight, h.budget, h.queued, h.resting, h.ready_at, h.blocked_until,
                h.next_at, h.in_flight, h.errors, h.pace, h.response_seconds, h.budget_used,
                h.set_aside, h.address, h.turn_at, h.robots_mark, h.robots_agent, h.robots_delay,
                h.robots_news, h.slowed_at, h.robots_origins, h.well_at, h.retrying, h.since_retry,
                h.tried_all, h.ripe_at, h.blocked_at, h.recovered_at, h.robots_times, h.robots_hold, h.robots_held_at,
                CASE WHEN h.failing IS NOT NULL OR h.unanswered IS NOT NULL THEN
                  [h.unanswered, h.unanswered_at, h.probe_at, h.probing, h.failing, h.failing_at, h.failing_since,
                   h.illness, h.place_since]
                END]) AS rows
