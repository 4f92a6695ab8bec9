// Choose pages to try the sections of their host that are held down, if they still wait.
//
// param   rows  LIST  [id, when its section was last tried] of each, sorted
// rows    none
// locks   the pages, in order of ids
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (locked:Page) WHERE id(locked) = row[0]
SET locked:Page
WITH collect([id(locked), row[1]]) AS held
UNWIND held AS row
MATCH (p:Page) WHERE id(p) = row[0] AND p.first_fetched IS NULL AND p.queue IS NOT NULL
SET p.try_at = row[1]
