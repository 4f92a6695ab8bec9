// Delete some links of any pages. Only `clear` does this.
//
// param   limit    INTEGER  at most this many
// column  deleted  INTEGER  how many there were
// rows    one
// locks   the links and their ends
// mode    write
// retry   safe   what is gone is gone
MATCH ()-[r:LINKS|LEADS_TO|REDIRECTS_TO|CANONICAL|SPELLS|SEEDS]->()
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS deleted
