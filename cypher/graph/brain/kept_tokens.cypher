// Return the access tokens of the service, for a database that replaces this one.
//
// column  tokens  LIST  their properties
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (t:AccessToken)
RETURN collect(properties(t)) AS tokens
