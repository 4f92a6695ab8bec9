// A node that no brain has written, in a database without a brain.
//
// column  labels   LIST     its labels
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (n) WHERE NOT n:SchemaStep AND NOT n:Brain
RETURN labels(n) AS labels LIMIT 1
