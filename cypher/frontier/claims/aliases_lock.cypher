// Lock aliases, and pages that were given up, and look again: which of them are still due, and free?
//
// param   ids   LIST   internal ids, sorted
// param   now   FLOAT  seconds since the epoch
// column  rows  LIST   [id, key, url, host, depth, etag, last_modified, was it never fetched] of those that are
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
WITH p WHERE p.state IN ['alias', 'parked', 'gone'] AND p.recheck_at <= $now AND p.lease IS NULL
WITH id(p) AS page, p {.key, .url, .host, .depth, .etag, .last_modified, .first_fetched} AS m
RETURN collect([page, m.key, m.url, m.host, m.depth, m.etag, m.last_modified, m.first_fetched IS NULL]) AS rows
