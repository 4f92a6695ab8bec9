// Pages that wait nowhere, and that no worker holds, are asked for by hand no more.
//
// param   ids  LIST  internal ids; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   a second run changes nothing
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i AND p.queue IS NULL AND p.lease IS NULL AND p.not_before IS NULL
SET p.wanted_at = null
