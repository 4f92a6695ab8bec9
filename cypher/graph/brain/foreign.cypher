// A node that graphbrain has not written, in a database without a brain. Tokens for the service, and counters of hours,
// outlive the brain they were made with.
//
// column  labels   LIST     its labels
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (n) WHERE NOT n:SchemaStep AND NOT n:Brain AND NOT n:Hour AND NOT n:AccessToken
RETURN labels(n) AS labels LIMIT 1
