// Return the data that an import has carried over for the process that makes a brain of it.
//
// column  tokens  STRING  the access tokens of the service, as JSON, or null
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (i:Imported {key: 'brain'})
RETURN i.kept_tokens AS tokens
