// Have those of some pages looked at that may be orphans, or are parked because they were.
//
// param   ids   LIST   internal ids; the caller has locked the pages
// param   now   FLOAT  seconds since the epoch
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH p
WHERE p.parked_because IS NOT NULL
   OR (p.in_weight = 0.0 AND p.depth > 0 AND NOT EXISTS { (p)<-[:LINKS|SPELLS|LEADS_TO|REDIRECTS_TO]-() })
SET p.look_again = $now
