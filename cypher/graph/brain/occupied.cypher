// A node that stands where none should: anything but a brain, its schema, its counters and the tokens for its service,
// which outlive it. An import would have to leave it alone, or replace it; a new brain would not be alone with it.
//
// column  labels   LIST     its labels
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (n) WHERE NOT n:SchemaStep AND NOT n:Brain AND NOT n:Hour AND NOT n:AccessToken
RETURN labels(n) AS labels LIMIT 1
