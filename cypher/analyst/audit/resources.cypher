// Count the leased resources that each host and each address counts as in flight, and find resources with an incomplete
// lease or in a wrong queue.
//
// column  counted  LIST  [host, address or null, resources]
// column  halves   LIST  keys of resources that have half a lease, or ten of them
// column  stranded LIST keys of resources that wait in a queue which is not served, or that should wait in one, or ten of
//                       them
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (r:Resource) WHERE r.lease_until >= 0
  WITH r WHERE r.counted
  WITH r.host AS host, r.counted_at AS address, count(*) AS many
  RETURN collect([host, address, many]) AS counted
}
CALL () {
  MATCH (r:Resource)
  WHERE (r.lease IS NULL) <> (r.lease_until IS NULL) OR (r.lease IS NOT NULL AND r.worker IS NULL)
     OR (r.lease IS NULL AND r.counted IS NOT NULL)
  WITH r LIMIT 10
  RETURN collect(r.key) AS halves
}
CALL () {
  MATCH (r:Resource)
  WHERE (r.queue IS NOT NULL
         AND NOT EXISTS { MATCH (q:ResourceQueue {key: r.queue}) WHERE q.at IS NOT NULL AND r.lease IS NULL })
     OR (r.queue IS NULL AND r.kind IN ['sitemap', 'link'] AND r.lease IS NULL AND r.dead_at IS NULL AND r.due_at IS NOT NULL)
  WITH r LIMIT 10
  RETURN collect(r.key) AS stranded
}
RETURN counted, halves, stranded
