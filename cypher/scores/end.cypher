// Say that all scores of a method are written.
//
// param   method    STRING  one of the methods of `graphbrain rank`
// param   token     STRING  as given to scores/begin
// param   now       FLOAT   seconds since the epoch
// rows    none
// locks   the Ranking
// mode    write
// retry   safe   absolute values
MATCH (locked:Ranking {method: $method})
SET locked:Ranking
WITH count(*) AS held
MATCH (r:Ranking {method: $method}) WHERE r.token = $token
SET r.complete = true, r.finished = $now
