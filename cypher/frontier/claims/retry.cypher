// Lock failed pages whose next try is due, and read them again.
//
// param   ids   LIST   internal ids, sorted
// param   now   FLOAT  seconds since the epoch
// column  rows  LIST   [id, host] of those that are still due
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
WITH p WHERE p.state IN ['frontier', 'known'] AND p.not_before <= $now AND p.lease IS NULL AND p.queue IS NULL
RETURN collect([id(p), p.host]) AS rows
