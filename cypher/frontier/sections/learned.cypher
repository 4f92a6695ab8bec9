// Write what was learned of hosts, and of the pages of which.
//
// param   sites  LIST  [host, a sample of its shingles, the visits that are remembered, its sections, how often it was learned
//                      from, does a section count for more than before or are pages to be chosen that try sections,
//                      visits of sections that are held down until other pages are chosen to try them, so many visits are
//                      to be learned from next or null: as few as of most hosts]; the caller has locked the sites
// param   rows   LIST  [id, what it brought, or null, true for an echo or null] of pages that the caller has locked
// rows    none
// locks   the sites and the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
CALL () {
  UNWIND $sites AS row
  MATCH (s:Site {host: row[0]})
  SET s.known = row[1], s.evidence = row[2], s.sections = row[3], s.learned = row[4],
      s.raising = CASE WHEN row[5] THEN true ELSE s.raising END, s.tries = row[6], s.learns_after = row[7]
}
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.brought = row[1], p.echo = row[2], p.unlearned = null, p.shingles = null, p.try_at = null
