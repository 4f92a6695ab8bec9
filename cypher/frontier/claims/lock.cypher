// Lock candidates and read them again: which of them still wait, in which lane, and since when? Which has another caller
// taken?
//
// param   ids      LIST     internal ids, sorted
// param   sites    BOOLEAN  return, too, how often their hosts were learned from
// param   notes    BOOLEAN  return the notes on them, too
// column  rows     LIST     [id, key, url, host, depth, etag, last_modified, is_new, harvest, queue, lane, waiting_since,
//                           is_leased, visited_at, recheck_at, retries, is_asked] of those that are still there; `is_new`: was
//                           never fetched; `queue`: null where it waits in none; `visited_at`: the last visit, or 0;
//                           `recheck_at`: null but of aliases and pages that were given up; `retries`: it waits to be tried
//                           again; `is_asked`: it is asked for by hand
// column  learned  LIST     [host, how often it was learned from] of the hosts of those pages that were; empty without
//                           `sites`
// column  notes    LIST     [key, text] of each that has a note; empty without `notes`
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
WITH id(p) AS page, p {.key, .url, .host, .depth, .etag, .last_modified, .queue, .lane, .first_fetched, .waiting_since,
                       .lease, .fetched, .failed, .harvest, .state, .recheck_at, .not_before,
                       .wanted_at} AS m
WITH collect([page, m.key, m.url, m.host, m.depth, m.etag, m.last_modified, m.first_fetched IS NULL,
              coalesce(m.harvest, 1.0),
              m.queue, m.lane, m.waiting_since, m.lease IS NOT NULL,
              CASE WHEN coalesce(m.failed, 0.0) > coalesce(m.fetched, 0.0) THEN m.failed
                   ELSE coalesce(m.fetched, 0.0) END,
              CASE WHEN m.state IN ['alias', 'parked', 'gone'] THEN m.recheck_at END,
              m.not_before IS NOT NULL, m.wanted_at IS NOT NULL]) AS rows,
     collect(DISTINCT CASE WHEN $sites THEN m.host END) AS hosts,
     collect(CASE WHEN $notes THEN m.key END) AS keys
CALL (hosts) {
  UNWIND hosts AS host
  MATCH (s:Site {host: host}) WHERE s.learned > 0
  RETURN collect([host, s.learned]) AS learned
}
CALL (keys) {
  UNWIND keys AS key
  MATCH (n:Note {key: key})
  RETURN collect([key, n.text]) AS notes
}
RETURN rows, learned, notes
