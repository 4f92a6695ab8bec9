// Hosts of pages that wait to be tried again.
//
// param   names  LIST  only these hosts, or null for all
// column  rows   LIST  [name, is its queue of retries served]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.queue >= '' AND p.untried_since >= 0 AND p.queue ENDS WITH ' (retry)'
  AND ($names IS NULL OR p.host IN $names)
WITH DISTINCT p.host AS name
OPTIONAL MATCH (h:Host {name: name})
RETURN collect([name, coalesce(h.retrying AND (h.queued OR h.resting) AND h.ready_at IS NOT NULL, false)]) AS rows
