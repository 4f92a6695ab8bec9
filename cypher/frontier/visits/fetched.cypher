// Record visits that brought a page, and end their leases; `worker` goes on naming who held it last. What most visits leave as
// it is gets written only where it has changed: each property costs. One statement for all of it costs half of what four cost.
//
// param   rows  LIST  [id, state, status, fetched, visits, token, outcome, content, validators, busy];
//                     content: null where it is as before, else [first_fetched, changed or null, changes or null,
//                     body_hash or null, text_hash or null, simhash or null, blocks or null];
//                     validators: null where they are as before, else [etag or null, last_modified or null];
//                     busy: is it in a queue, in its host's counts or in the order of retries, or was it parked: all of
//                     that ends;
//                     the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.state = row[1], p.status = row[2], p.fetched = row[3], p.visits = row[4], p.last_lease = row[5],
    p.last_outcome = row[6], p.outside_because = CASE row[1] WHEN 'outside' THEN 'scope' ELSE null END, p.lease = null, p.lease_until = null,
    p.wanted_at = null
FOREACH (content IN CASE WHEN row[7] IS NULL THEN [] ELSE [row[7]] END |
  SET p.first_fetched = content[0], p.changed = content[1], p.changes = content[2], p.body_hash = content[3],
      p.text_hash = content[4], p.simhash = content[5], p.blocks = content[6]
)
FOREACH (validators IN CASE WHEN row[8] IS NULL THEN [] ELSE [row[8]] END |
  SET p.etag = validators[0], p.last_modified = validators[1]
)
FOREACH (ends IN CASE WHEN row[9] THEN [true] ELSE [] END |
  SET p.queue = null, p.counted = null, p.counted_at = null, p.charged = null,
      p.errors = null, p.error = null, p.refusals = null, p.not_before = null, p.parked_because = null,
      p.respelt = null, p.failing_since = null, p.fault = null, p.untried_since = null
)
