// Return the pages that a claiming call has tried to lease and that carry one of its tokens: the claims of an attempt
// whose answer was lost.
//
// param   keys    LIST  the keys it tried
// param   tokens  LIST  the fencing tokens of the call
// column  rows    LIST  [id, key, url, host, depth, etag, last_modified, lane, lease_until, token]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (p:Page {key: key}) WHERE p.lease IN $tokens
RETURN collect([id(p), p.key, p.url, p.host, p.depth, p.etag, p.last_modified, p.lane, p.lease_until, p.lease]) AS rows
