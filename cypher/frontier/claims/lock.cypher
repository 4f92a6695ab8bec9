// Lock candidates and look again: which of them still wait?
//
// param   ids   LIST  internal ids, sorted
// column  rows  LIST  [id, key, url, host, depth, etag, last_modified, queue, lane, was it never fetched] of those
//                     that wait
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
WITH p WHERE p.queue IS NOT NULL
WITH id(p) AS page, p {.key, .url, .host, .depth, .etag, .last_modified, .queue, .lane, .first_fetched} AS m
RETURN collect([page, m.key, m.url, m.host, m.depth, m.etag, m.last_modified, m.queue, m.lane,
                m.first_fetched IS NULL]) AS rows
