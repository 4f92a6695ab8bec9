// Note that all pages of a host wait with the factors of the sections that count for more than before, and
// that pages were chosen to try those that are held down, if none has changed meanwhile.
//
// param   host     STRING   its name
// param   learned  INTEGER  how often it had been learned from
// param   tries    INTEGER  visits of sections that are held down until other pages are chosen to try them
// rows    none
// locks   the site
// mode    write
// retry   safe   absolute values
MATCH (locked:Site {host: $host})
SET locked:Site
WITH collect(id(locked)) AS held
UNWIND held AS i
MATCH (s:Site) WHERE id(s) = i AND s.learned = $learned
SET s.raising = null, s.tries = $tries
