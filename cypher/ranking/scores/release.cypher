// Let the right to keep scores fresh go.
//
// param   token  STRING  of whoever has it
// rows    none
// locks   the Brain
// mode    write
// retry   safe   another's token stays
MATCH (locked:Brain {key: 'brain'})
SET locked:Brain
WITH count(*) AS held
MATCH (b:Brain {key: 'brain'}) WHERE b.ranking = $token
SET b.ranking = null, b.ranking_until = null
