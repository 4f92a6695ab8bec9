// Look again at aliases and parked pages that were not to be looked at, and not at those that are outside the scope.
//
// param   rows  LIST  [id, when at the latest, is it outside]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.recheck_at = CASE WHEN row[2] THEN null ELSE coalesce(p.recheck_at, row[1]) END
