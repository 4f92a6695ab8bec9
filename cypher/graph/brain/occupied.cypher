// A node that an import would have to leave alone, or replace: anything but the brain, its schema, its counters and the
// tokens for its service.
//
// column  labels   LIST     its labels
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (n) WHERE NOT n:SchemaStep AND NOT n:Brain AND NOT n:Hour AND NOT n:AccessToken
RETURN labels(n) AS labels LIMIT 1
