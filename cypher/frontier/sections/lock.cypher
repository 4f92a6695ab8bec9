// Lock and read what was learned of hosts. A host without such a record gets one.
//
// param   hosts  LIST  names, sorted
// column  rows   LIST  [host, a sample of its shingles or null where nothing was learned yet, the visits that are remembered,
//                      its sections, how often it was learned from, visits of sections that are held down until other
//                      pages are chosen to try them] of each
// rows    one
// locks   the sites, in order of hosts
// mode    write
// retry   safe   MERGE on a unique key
UNWIND $hosts AS host
MERGE (locked:Site {host: host})
SET locked:Site
WITH collect(id(locked)) AS held
UNWIND held AS i
MATCH (s:Site) WHERE id(s) = i
WITH s {.host, .known, .evidence, .sections, .learned, .tries} AS m
RETURN collect([m.host, m.known, m.evidence, m.sections, coalesce(m.learned, 0), coalesce(m.tries, 0)]) AS rows
