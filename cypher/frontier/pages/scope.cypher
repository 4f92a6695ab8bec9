// What is needed to judge whether pages are in the scope.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [page, url, state, host, fetched, busy, outside_because] of each; fetched: whether it ever was; busy:
//                    whether it is leased or waits for a retry; outside_because: null if it is not outside
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.url, .state, .host, .first_fetched, .lease, .not_before, .outside_because} AS m
RETURN collect([page, m.url, m.state, m.host, m.first_fetched IS NOT NULL,
                m.lease IS NOT NULL OR m.not_before IS NOT NULL, m.outside_because]) AS rows
