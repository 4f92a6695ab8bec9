// The access tokens of the service, to be carried over to a database that takes the place of this one.
//
// column  tokens  LIST  their properties
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (t:AccessToken)
RETURN collect(properties(t)) AS tokens
