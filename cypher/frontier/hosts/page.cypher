// The next hosts in the order of names, and those among them that fit; a criterion that is null fits every host.
//
// param   after    STRING   the name before the first
// param   limit    INTEGER  look at no more hosts than this
// param   text     STRING   what the name must contain, with a dot before and behind it, or null
// param   blocked  BOOLEAN  whether it is blocked or backed off now, or null
// param   queued   BOOLEAN  whether pages wait in its own queue, or null
// param   slowed   BOOLEAN  whether it has answered 429 or 503 and is asked less often, or null
// param   silent   BOOLEAN  whether it has not answered `dead` times in a row, or null
// param   dead     INTEGER  so many times in a row, and it is taken to be dead
// param   now      FLOAT    seconds since the epoch
// column  last     STRING   the name of the last host that was looked at, or null
// column  rows     LIST     the properties of each that fits but for the texts of its robots.txt
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host) WHERE h.name > $after
WITH h ORDER BY h.name LIMIT $limit
WITH h, ($text IS NULL OR ('.' + h.name + '.') CONTAINS $text)
    AND ($blocked IS NULL OR (coalesce(h.blocked_until, 0.0) > $now) = $blocked)
    AND ($queued IS NULL OR coalesce(h.queued, h.resting, false) = $queued)
    AND ($slowed IS NULL OR (h.pace IS NOT NULL) = $slowed)
    AND ($silent IS NULL OR (coalesce(h.unanswered, 0) >= $dead) = $silent) AS fits
RETURN max(h.name) AS last,
       collect(CASE WHEN fits THEN h {.name, .delay, .most_in_flight, .budget, .queued, .resting, .ready_at, .blocked_until,
         .next_at, .in_flight, .errors, .pace, .response_seconds, .budget_used, .set_aside, .address, .turn_at,
         .robots_mark, .robots_agent, .robots_delay, .robots_news, .slowed_at, .unanswered, .unanswered_at,
         .probe_at, .probing, .robots_origins, .failing, .failing_at,
         .failing_since, .illness, .place_since, .well_at, .retrying, .since_retry, .tried_all, .ripe_at, .blocked_at, .recovered_at, .robots_times, .robots_hold,
         .robots_held_at, .noise, .robots_at, .robots_http_at, .robots_https_at, .discovered} END) AS rows
