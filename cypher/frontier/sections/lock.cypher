// Lock what was learned of a host, which is made if it is not there; and read it.
//
// param   host      STRING   its name
// column  known     STRING   a sample of its shingles; null where nothing was learned yet
// column  evidence  STRING   the visits that are remembered
// column  sections  STRING   its sections
// column  learned   INTEGER  how often it was learned from
// column  tries     INTEGER  visits of sections that are held down until other pages are chosen to try them
// rows    one
// locks   the site
// mode    write
// retry   safe   MERGE on a unique key
MERGE (locked:Site {host: $host})
SET locked:Site
WITH id(locked) AS held
MATCH (s:Site) WHERE id(s) = held
RETURN s.known AS known, s.evidence AS evidence, s.sections AS sections, coalesce(s.learned, 0) AS learned,
       coalesce(s.tries, 0) AS tries
