// All that is known of a host but for the texts of its robots.txt.
//
// param   name  STRING  host name
// column  rows  LIST    its properties; empty when it has not been met
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (h:Host {name: $name})
RETURN collect(h {.name, .delay, .most_in_flight, .budget, .queued, .resting, .ready_at, .blocked_until, .next_at, .in_flight,
                  .errors, .pace, .response_seconds, .budget_used, .set_aside, .address, .turn_at,
                  .robots_mark, .robots_agent, .robots_delay, .robots_news, .slowed_at, .unanswered,
                  .unanswered_at, .probe_at, .probing, .robots_origins, .failing, .failing_at,
                  .failing_since, .illness, .place_since, .well_at, .retrying, .since_retry, .tried_all, .ripe_at, .blocked_at, .recovered_at,
                  .robots_times, .robots_hold, .robots_held_at, .noise,
                  .robots_at, .robots_http_at, .robots_https_at, .discovered}) AS rows
