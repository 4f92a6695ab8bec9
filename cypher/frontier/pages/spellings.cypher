// The properties that decide whether pages take another address.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// column  rows  LIST  [id, url, host, depth, was it ever fetched, has it failed, url_surplus or 0, why it is outside or
//                     null, leased or waiting for a retry] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.url, .host, .depth, .first_fetched, .errors, .url_surplus, .outside_because, .lease,
                       .not_before} AS m
RETURN collect([page, m.url, m.host, m.depth, m.first_fetched IS NOT NULL, coalesce(m.errors, 0) > 0,
                coalesce(m.url_surplus, 0), m.outside_because, m.lease IS NOT NULL OR m.not_before IS NOT NULL]) AS rows
