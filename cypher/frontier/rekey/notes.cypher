// Let the notes on pages that get other keys go along; one that is there already stays.
//
// param   rows  LIST  [the key before, the key], the latter all different
// rows    none
// locks   the notes
// mode    write
// retry   safe   what has moved is not found
UNWIND $rows AS row
MATCH (n:Note {key: row[0]})
OPTIONAL MATCH (m:Note {key: row[1]})
FOREACH (_ IN CASE WHEN m IS NULL THEN [1] ELSE [] END | SET n.key = row[1])
FOREACH (_ IN CASE WHEN m IS NULL THEN [] ELSE [1] END | DELETE n)
