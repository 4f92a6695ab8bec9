// Delete some nodes other than the brain, its schema and the tokens for its service. Only `clear` does this.
//
// param   limit    INTEGER  at most this many
// column  deleted  INTEGER  how many there were
// rows    one
// locks   the nodes
// mode    write
// retry   safe   deleted nodes stay deleted
MATCH (n) WHERE NOT n:SchemaStep AND NOT n:Brain AND NOT n:AccessToken
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted
