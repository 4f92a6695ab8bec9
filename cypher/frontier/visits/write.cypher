// Record visits on their pages: what they brought or why they failed, where the pages wait, and the end of their leases.
// `worker` goes on naming who held a page last.
//
// Each list is a block, [id, value, …] or the id of each page: properties that change together on some of the pages. A block
// that is not sent is empty. What most visits leave as it is gets written only where it has changed: each property costs. No
// block has the name of a property: see accounts/write. The caller has locked the pages, and the hosts in whose queues they
// wait.
//
// param   fetches          LIST  [id, state, status, fetched, visits, token, outcome] of pages that were fetched
// param   content          LIST  [id, first_fetched, changed or null, changes or null, body_hash or null, text_hash or null,
//                                simhash or null, blocks or null, hashes of its parts or null, parts in which it changed
//                                last or null], where it is not as before
// param   validators       LIST  [id, etag or null, last_modified or null], where they are not as before
// param   facts            LIST  [id, title, canonical, canonicals, noindex, nofollow, language, size, content_type, titles,
//                                descriptions, h1, words, hreflang, requisites, structured, password_field, fetch_seconds],
//                                each or null, for later questions: the order uses none
// param   seconds          LIST  [id, fetch_seconds] of visits without other facts
// param   led              LIST  [id, list of URLs or null, host and place in short or null]: where visits were led by
//                                temporary redirects, or by a refresh in 0 seconds
// param   well             LIST  ids of fetched pages that are in a queue, or failed before: all of that ends
// param   failing          LIST  [id, state, errors, not_before or null, queue or null, token, outcome, refusals or null,
//                                since when it has been failing, when it was tried, if it waits in a queue, or null] of
//                                pages that were not fetched
// param   failures         LIST  [id, status or null, when it failed], where a request was sent
// param   causes           LIST  [id, error, what was wrong]
// param   missing          LIST  [id, simhash of the text with which the server answers that there is no such page]
// param   uncounted        LIST  ids of pages that leave the counts of their hosts, and are no longer parked
// param   released         LIST  ids of pages whose leases end; those that were asked for by hand are so no longer
// param   slowed           LIST  ids of pages whose leases end, and whose hosts asked for a wait: they are asked for still
// param   aliases          LIST  [id, since when it is an alias, when it is looked at again, or null]
// param   recheck          LIST  [id, when a page that was given up is looked at again, or null]
// param   waits            LIST  [id, queue, or null of a page that is held, waiting_since] of pages to be visited again;
//                                one that another claim holds waits since this visit when that has ended
// param   relevances       LIST  [id, relevance or null]
// param   values           LIST  [id, value to the crawler]
// param   beliefs          LIST  [id, rate_shape, rate_scale (days)]: changes a day are Gamma of these
// param   first_again      LIST  [id, days since the first visit, true if the page had changed, else null] of second
//                                visits: priors are made of that
// param   to_learn         LIST  [id, when it was, what it shows or null] of first visits, which have to be learned from
// param   found_changes    LIST  [id, seconds since the epoch] of visits that found a change; the latest ten are kept
// param   recent_failures  LIST  [id, seconds since the epoch, status or 0]; the latest ten are kept
// param   state_changes    LIST  [id, state before, seconds since the epoch]; the latest ten are kept
// rows    none
// locks   the pages, held already
// mode    write
// retry   once   in the transaction of the report, which is not recorded twice
CALL () {
  UNWIND $fetches AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.state = row[1], p.status = row[2], p.fetched = row[3], p.visits = row[4], p.last_lease = row[5],
      p.last_outcome = row[6], p.outside_because = CASE row[1] WHEN 'outside' THEN 'scope' ELSE null END
}
CALL () {
  UNWIND $content AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.first_fetched = row[1], p.changed = row[2], p.changes = row[3], p.body_hash = row[4], p.text_hash = row[5],
      p.simhash = row[6], p.blocks = row[7], p.parts = row[8], p.changed_in = row[9]
}
CALL () {
  UNWIND $validators AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.etag = row[1], p.last_modified = row[2]
}
CALL () {
  UNWIND $facts AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.title = row[1], p.canonical = row[2], p.canonicals = row[3], p.noindex = row[4], p.nofollow = row[5],
      p.language = row[6], p.size = row[7], p.content_type = row[8], p.titles = row[9], p.descriptions = row[10],
      p.h1 = row[11], p.words = row[12], p.hreflang = row[13], p.requisites = row[14], p.structured = row[15],
      p.password_field = row[16], p.fetch_seconds = row[17]
}
CALL () {
  UNWIND $seconds AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.fetch_seconds = row[1]
}
CALL () {
  UNWIND $led AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.led_to = row[1], p.leads_to = row[2]
}
CALL () {
  UNWIND $well AS i
  MATCH (p:Page) WHERE id(p) = i
  SET p.queue = null, p.errors = null, p.error = null, p.refusals = null, p.not_before = null, p.respelt = null,
      p.failing_since = null, p.fault = null, p.untried_since = null
}
CALL () {
  UNWIND $failing AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.state = row[1], p.errors = row[2], p.not_before = row[3], p.queue = row[4], p.last_lease = row[5],
      p.last_outcome = row[6], p.refusals = row[7], p.failing_since = row[8], p.untried_since = row[9]
}
CALL () {
  UNWIND $failures AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.status = row[1], p.failed = row[2]
}
CALL () {
  UNWIND $causes AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.error = row[1], p.fault = row[2]
}
CALL () {
  UNWIND $missing AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.missing_simhash = row[1]
}
CALL () {
  UNWIND $uncounted AS i
  MATCH (p:Page) WHERE id(p) = i
  SET p.counted = null, p.counted_at = null, p.charged = null, p.parked_because = null
}
CALL () {
  UNWIND $released AS i
  MATCH (p:Page) WHERE id(p) = i
  SET p.lease = null, p.lease_until = null, p.wanted_at = null
}
CALL () {
  UNWIND $slowed AS i
  MATCH (p:Page) WHERE id(p) = i
  SET p.lease = null, p.lease_until = null
}
CALL () {
  UNWIND $aliases AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.alias_since = row[1], p.recheck_at = row[2]
}
CALL () {
  UNWIND $recheck AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.recheck_at = row[1]
}
CALL () {
  UNWIND $waits AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.queue = row[1], p.waiting_since = row[2]
}
CALL () {
  UNWIND $relevances AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.relevance = row[1]
}
CALL () {
  UNWIND $values AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.value = row[1]
}
CALL () {
  UNWIND $beliefs AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.rate_shape = row[1], p.rate_scale = row[2]
}
CALL () {
  UNWIND $first_again AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.first_interval = row[1], p.first_changed = row[2]
}
CALL () {
  UNWIND $to_learn AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.unlearned = row[1], p.shingles = row[2]
}
CALL () {
  UNWIND $found_changes AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.change_times = (coalesce(p.change_times, []) + row[1])[-10..]
}
CALL () {
  UNWIND $recent_failures AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.failure_times = (coalesce(p.failure_times, []) + row[1])[-10..],
      p.failure_statuses = (coalesce(p.failure_statuses, []) + row[2])[-10..]
}
CALL () {
  UNWIND $state_changes AS row
  MATCH (p:Page) WHERE id(p) = row[0]
  SET p.state_times = (coalesce(p.state_times, []) + row[2])[-10..],
      p.states_before = (coalesce(p.states_before, []) + row[1])[-10..]
}
