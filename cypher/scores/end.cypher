// Say that all scores of a method are written.
//
// param   method    STRING  one of the methods of `graphbrain rank`
// param   token     STRING  as given to scores/begin
// param   now       FLOAT   seconds since the epoch
// rows    none
// locks   the Ranking
// mode    write
// retry   safe   absolute values
MATCH (r:Ranking {method: $method})
SET r:Ranking
WITH r WHERE r.token = $token
SET r.complete = true, r.finished = $now
