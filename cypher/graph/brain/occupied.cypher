// Return a node that is none of a brain, its schema, its counters and the tokens for its service, which outlive it.
// An import would have to keep it or delete it, and a new brain would share the database with it.
//
// column  labels   LIST     its labels
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (n) WHERE NOT n:SchemaStep AND NOT n:Brain AND NOT n:Hour AND NOT n:AccessToken
RETURN labels(n) AS labels LIMIT 1
