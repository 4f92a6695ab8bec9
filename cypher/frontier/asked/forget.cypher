// Forget some callers' keys all of whose leases are long over.
//
// param   before  FLOAT    their leases had lapsed by then
// param   limit   INTEGER  at most so many
// column  gone    INTEGER  how many
// rows    one
// locks   what is noted by the keys
// mode    write
// retry   safe   what is gone is gone
MATCH (a:Asked) WHERE a.until < $before
WITH a LIMIT $limit
DELETE a
RETURN count(*) AS gone
