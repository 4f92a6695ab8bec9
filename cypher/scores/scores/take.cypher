// Take the right to keep the scores of a method fresh, or extend it. One process holds it at a time.
//
// param   method  STRING   one of the methods of `graphbrain rank`
// param   token   STRING   of the process that wants it
// param   now     FLOAT    seconds since the epoch
// param   until   FLOAT    the time after which its holder counts as dead
// param   every   FLOAT    seconds after which scores are old
// param   broken  FLOAT    seconds after which unfinished scores are old
// column  mine    BOOLEAN  false if another process holds it, or the scores are not old
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
