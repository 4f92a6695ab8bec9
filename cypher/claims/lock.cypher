// Lock candidates and look again: which of them still wait?
//
// param   ids   LIST  internal ids, sorted
// column  rows  LIST  [id, key, url, host, depth, etag, last_modified, queue, lane] of those that wait
// rows    one
// locks   the pages, in order of ids
// mode    write
// retry   safe   writes nothing
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p:Page
WITH p WHERE p.queue IS NOT NULL
RETURN collect([id(p), p.key, p.url, p.host, p.depth, p.etag, p.last_modified, p.queue, p.lane]) AS rows
