// What decides where locked pages wait.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// column  rows  LIST  [page, url, host, state, fetched, queue, lane, waiting_since, busy, rate_shape, rate_scale, interval,
//                     because, parked_because, failed, failing_since, errors, missing] of each, null for what it has not;
//                     busy: leased or waiting for a retry; rate_scale, interval: in days; because: why it is outside
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.url, .host, .state, .first_fetched, .fetched, .queue, .lane, .waiting_since, .lease, .not_before, .rate_shape,
                       .rate_scale, .interval, .outside_because, .parked_because, .failed,
                       .failing_since, .errors, .fault} AS m
RETURN collect([page, m.url, m.host, m.state, CASE WHEN m.first_fetched IS NULL THEN null ELSE m.fetched END, m.queue, m.lane,
                m.waiting_since, m.lease IS NOT NULL OR m.not_before IS NOT NULL, m.rate_shape, m.rate_scale, m.interval,
                m.outside_because, m.parked_because, m.failed, m.failing_since, coalesce(m.errors, 0),
                coalesce(m.fault IN ['missing', 'nowhere'], false)]) AS rows
