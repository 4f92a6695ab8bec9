// Raise the relevance of pages that were never fetched to what a link guesses.
//
// param   rows   LIST  [id, relevance]; the caller has locked the pages and seen that they have less
// column  rows   LIST  [id, relevance] of those that took it
// rows    one
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0] AND p.first_fetched IS NULL
SET p.relevance = row[1]
RETURN collect(row) AS rows
