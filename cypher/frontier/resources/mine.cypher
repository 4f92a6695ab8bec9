// Return the resources that a claiming call has tried to lease and that carry one of its tokens: the claims of an
// attempt whose answer was lost.
//
// param   keys    LIST  the keys it tried
// param   tokens  LIST  the fencing tokens of the call
// column  rows    LIST  [key, url, host, lease_until, the token, etag or null, last_modified or null, method or null]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (r:Resource {key: key}) WHERE r.lease IN $tokens
RETURN collect([r.key, r.url, r.host, r.lease_until, r.lease, r.etag, r.last_modified, r.method]) AS rows
