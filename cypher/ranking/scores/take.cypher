// Take the right to keep the scores of a method fresh, or hold it longer: only one at a time.
//
// param   method  STRING   one of the methods of `graphbrain rank`
// param   token   STRING   of whoever wants it
// param   now     FLOAT    seconds since the epoch
// param   until   FLOAT    when it counts as dead
// param   every   FLOAT    seconds after which scores are old
// param   broken  FLOAT    seconds after which those that are not written to their end are
// column  mine    BOOLEAN  false when somebody else has it, or the scores are not old
// rows    one
// locks   the Brain
// mode    write
// retry   safe   the same token
MATCH (locked:Brain {key: 'brain'})
SET locked:Brain
WITH count(*) AS held
MATCH (b:Brain {key: 'brain'})
OPTIONAL MATCH (r:Ranking {method: $method})
WITH b, b.ranking = $token OR ((b.ranking IS NULL OR b.ranking_until < $now)
                               AND (r IS NULL OR r.started + CASE WHEN r.complete THEN $every ELSE $broken END <= $now)) AS mine
WITH b, coalesce(mine, false) AS mine
FOREACH (_ IN CASE WHEN mine THEN [1] ELSE [] END | SET b.ranking = $token, b.ranking_until = $until)
RETURN mine
