// Write what was learned of a host, and of the pages of which.
//
// param   host      STRING   its name; the caller has locked its site
// param   known     STRING   a sample of its shingles
// param   evidence  STRING   the visits that are remembered
// param   sections  STRING   its sections
// param   learned   INTEGER  how often it was learned from
// param   raising   BOOLEAN  does a section count for more than before, or are pages to be chosen that try sections?
// param   tries     INTEGER  visits of sections that are held down until other pages are chosen to try them
// param   after     INTEGER  so many visits are to be learned from next, or null: as few as of most hosts
// param   rows      LIST     [id, share that was new, or null, true for an echo or null] of pages that the caller has locked
// rows    none
// locks   the site and the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
MATCH (s:Site {host: $host})
SET s.known = $known, s.evidence = $evidence, s.sections = $sections, s.learned = $learned,
    s.tries = $tries, s.learns_after = $after,
    s.raising = CASE WHEN $raising THEN true ELSE s.raising END
WITH s
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.brought = row[1], p.echo = row[2], p.unlearned = null, p.shingles = null, p.try_at = null
