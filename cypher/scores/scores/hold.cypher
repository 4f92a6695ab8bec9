// Return whether this process still writes the scores of a method, and keep other writers out until the transaction ends.
//
// param   method  STRING   one of the methods of `graphbrain rank`
// param   token   STRING   as given to scores/begin
// column  ours    BOOLEAN  false if another process has begun since
// rows    many
// locks   the Ranking; pages only after it
// mode    write
// retry   safe   only a lock
MATCH (locked:Ranking {method: $method})
SET locked:Ranking
WITH count(*) AS held
MATCH (r:Ranking {method: $method})
RETURN r.token = $token AS ours
