// Is it still we who write the scores of a method? Until the transaction ends nobody else does.
//
// param   method  STRING   one of the methods of `graphbrain rank`
// param   token   STRING   as given to scores/begin
// column  ours    BOOLEAN  false when somebody else has begun since
// rows    many
// locks   the Ranking; pages only after it
// mode    write
// retry   safe   only a lock
MATCH (locked:Ranking {method: $method})
SET locked:Ranking
WITH count(*) AS held
MATCH (r:Ranking {method: $method})
RETURN r.token = $token AS ours
