// Lock pages, and read the times of their events, and the times that were computed from those.
//
// param   ids   LIST  internal ids, sorted
// column  rows  LIST  [id, host, queue or null, map of properties] of those that are there
// rows    one
// locks   the pages, in order of ids
// mode    write
// retry   safe   writes nothing
UNWIND $ids AS i
MATCH (locked:Page) WHERE id(locked) = i
SET locked:Page
WITH collect(id(locked)) AS held
UNWIND held AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), p.host, p.queue, p {.fetched, .failed, .first_fetched, .changed, .waiting_since, .lane, .not_before,
                                           .recheck_at, .lease, .lease_until, .look_again, .failing_since, .untried_since,
                                           .hurried_at, .state, .fault, .parked_because, .last_lease, .discovered,
                                           .alias_since, .in_sitemap, .hinted, .hint_noted, .hint_after, .unlearned, .try_at, .wanted_at,
                                           .change_times, .state_times, .failure_times}]) AS rows
