// Put pages outside that their host's robots.txt does not let be fetched; they are not to be retried either.
//
// param   ids  LIST  internal ids; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p.state = 'outside', p.outside_because = 'robots', p.queue = null, p.not_before = null
