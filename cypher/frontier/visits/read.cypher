// What is known of the last visits of locked pages, what is believed of their rates of change, and the intervals between
// visits that were set by hand.
//
// param   ids   LIST     internal ids; the caller has locked the pages
// param   few   INTEGER  a page with so many visits at most has the noise of its host
// column  rows  LIST  [page, url, state, host, lease, counted, last_lease, last_outcome, fetched, first_fetched, visits,
//                     changes, errors, changed, body_hash, text_hash, simhash, etag, last_modified, counted_at, charged,
//                     refusals, respelt, is_seed, alias_since, names_aliases, failed, failing_since, led, turned,
//                     rate_shape, rate_scale, interval, blocks, led_by, parts, changed_in, noise] of each, null for what
//                     it has not; led: was its last visit led elsewhere for now; turned: when its state changed last;
//                     rate_scale, interval: in days; noise: of the sections of its host
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.url, .state, .host, .lease, .counted, .last_lease, .last_outcome, .fetched, .first_fetched,
                       .visits, .changes, .errors, .changed, .body_hash, .text_hash, .simhash, .etag, .last_modified,
                       .counted_at, .charged, .refusals, .respelt, .is_seed, .alias_since, .spells, .failed,
                       .failing_since, .led_to, .state_times, .rate_shape, .rate_scale, .interval,
                       .blocks, .led_by, .parts, .changed_in} AS m
OPTIONAL MATCH (h:Host {name: m.host}) WHERE m.visits <= $few
WITH page, m, h {.noise} AS host
RETURN collect([page, m.url, m.state, m.host, m.lease, coalesce(m.counted, false), m.last_lease, m.last_outcome,
                m.fetched, m.first_fetched, coalesce(m.visits, 0), coalesce(m.changes, 0),
                coalesce(m.errors, 0), m.changed, m.body_hash, m.text_hash, m.simhash, m.etag, m.last_modified,
                m.counted_at, coalesce(m.charged, false), coalesce(m.refusals, 0), coalesce(m.respelt, 0),
                coalesce(m.is_seed, false), m.alias_since, coalesce(m.spells, false), m.failed, m.failing_since,
                m.led_to IS NOT NULL, m.state_times[-1], m.rate_shape, m.rate_scale,
                m.interval, m.blocks, m.led_by, m.parts, m.changed_in, host.noise]) AS rows
