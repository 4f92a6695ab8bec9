// The next hosts in the order of names, as rows of a table.
//
// param   after  STRING   hosts up to this name are done
// param   limit  INTEGER  how many at most
// column  rows   LIST     their properties, but for the texts of robots.txt
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host) WHERE h.name > $after
WITH h ORDER BY h.name LIMIT $limit
RETURN collect(h {.name, .discovered, .address, .next_at, .blocked_until, .errors, .pace, .response_seconds, .unanswered,
                  .in_flight, .delay, .most_in_flight, .budget, .budget_used, .robots_at, .robots_delay}) AS rows
