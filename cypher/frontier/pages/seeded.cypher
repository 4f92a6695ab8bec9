// What has become of the seeds of one call.
//
// param   ids   LIST    internal ids; the caller has locked the pages
// param   mark  STRING  the token of the call
// column  rows  LIST    [page, state, outside_because, created] of each; created: whether this call has created it
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([id(p), p.state, p.outside_because, coalesce(p.last_lease = $mark, false)]) AS rows
