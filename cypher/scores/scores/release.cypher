// Give up the right to keep scores fresh.
//
// param   token  STRING  of its holder
// rows    none
// locks   the Brain
// mode    write
// retry   safe   another token stays
MATCH (locked:Brain {key: 'brain'})
SET locked:Brain
WITH count(*) AS held
MATCH (b:Brain {key: 'brain'}) WHERE b.ranking = $token
SET b.ranking = null, b.ranking_until = null
