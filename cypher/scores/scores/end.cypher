// Record that all scores of a method are written.
//
// param   method    STRING  one of the methods of `graphbrain rank`
// param   now       FLOAT   seconds since the epoch
// rows    none
// locks   the Ranking, held already: scores/hold
// mode    write
// retry   safe   absolute values
MATCH (r:Ranking {method: $method})
SET r.complete = true, r.finished = $now
