// Look at once at pages that were given up because they failed. A parked page that was looked at for this reason since it
// failed the last time, and a gone one that was so lately, wait as long as they would.
//
// param   ids        LIST     internal ids; the caller has locked the pages
// param   now        FLOAT    seconds since the epoch
// param   gone       BOOLEAN  pages that are gone, too?
// param   gone_wait  FLOAT    seconds between two such looks at a page that is gone
// column  hurried    LIST     the pages that are looked at
// rows    one
// locks   the pages, held already
// mode    write
// retry   safe   a second run changes nothing
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH p, coalesce(p.hurried_at, 0.0) AS before
WHERE (p.state = 'parked' AND p.recheck_at > $now AND before <= coalesce(p.failed, 0.0))
   OR ($gone AND p.state = 'gone' AND before <= $now - $gone_wait)
SET p.recheck_at = $now, p.hurried_at = $now
RETURN collect(id(p)) AS hurried
