// What is believed of the rates of change of locked pages, and the intervals that were set for them by hand.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// column  rows  LIST  [id, rate_shape or null, rate_scale (days) or null, interval (days) or null]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.rate_shape, .rate_scale, .interval} AS m
RETURN collect([page, m.rate_shape, m.rate_scale, m.interval]) AS rows
