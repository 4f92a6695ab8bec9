// What decides where locked pages wait.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// column  rows  LIST  [id, url, host, state, fetched or null, queue or null, lane, waiting_since, leased or waiting for a retry,
//                     rate_shape or null, rate_scale (days) or null, interval (days) or null,
//                     why it is outside or null, why it is parked or null,
//                     failed or null, failing_since or null, errors, is it missing]
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
