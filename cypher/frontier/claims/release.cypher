// End leases without a visit: the pages wait again where they were. A page that counts as failing and has no failure of
// its own, because its crawler never requested it, counts as untried from the beginning.
//
// param   rows   LIST    [id, queue or null, the token that ends]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.queue = row[1], p.untried_since = CASE WHEN p.failing_since IS NULL THEN null ELSE coalesce(p.failed, 0.0) END,
    p.last_lease = row[2], p.last_outcome = 'returned',
    p.lease = null, p.lease_until = null, p.counted = null,
    p.counted_at = null, p.charged = null
