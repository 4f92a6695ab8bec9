// What a hint must know of pages.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// column  rows  LIST  [page, state, fetched, hinted, waiting_since, rate_shape, rate_scale, parked_because, host, lane,
//                     changed, visits, hint_number, hint_noted, hint_after] of each; null for what it has not
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.state, .fetched, .hinted, .waiting_since, .rate_shape, .rate_scale, .parked_because,
                       .host, .lane, .changed, .visits, .hint_number, .hint_noted, .hint_after} AS m
RETURN collect([page, m.state, m.fetched, m.hinted, m.waiting_since, m.rate_shape, m.rate_scale, m.parked_because,
                m.host, m.lane, m.changed, coalesce(m.visits, 0), m.hint_number, m.hint_noted, m.hint_after]) AS rows
