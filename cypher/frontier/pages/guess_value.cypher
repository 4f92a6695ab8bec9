// Raise the value of pages that were never fetched to the value that a link guesses.
//
// param   rows   LIST  [id, value]; the caller has locked the pages
// column  rows   LIST  [id, value] of those that took it: they had none, or less
// rows    one
// locks   the pages, held already
// mode    write
// retry   safe   the larger of two values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0] AND p.first_fetched IS NULL AND coalesce(p.value, -1.0) < row[1]
SET p.value = row[1]
RETURN collect(row) AS rows
