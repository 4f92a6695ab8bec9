// The pages that carry a token: what a claiming call has got so far.
//
// param   token  STRING  the fencing token of the call
// column  rows   LIST    [id, key, url, host, depth, etag, last_modified, lane, lease_until]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.lease = $token
RETURN collect([id(p), p.key, p.url, p.host, p.depth, p.etag, p.last_modified, p.lane, p.lease_until]) AS rows
