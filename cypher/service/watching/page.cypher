// Return what the console shows of a page beside Brain.page: when it comes, the kept history of its visits, and its twins.
//
// param   key       STRING   the page's key
// param   now       FLOAT    seconds since the epoch
// param   limit     INTEGER  how many twins at most
// column  ahead     INTEGER  waiting pages of its queue in lanes before its own; or null: it waits in no queue
// column  beside    INTEGER  other waiting pages of its queue in its own lane; or null
// column  host_may  FLOAT    when its host may be asked; or null: now
// column  changes   LIST     when visits found it changed, the latest ten, in seconds since the epoch
// column  states    LIST     [when, the state that it left] of the latest ten changes of its state
// column  failures  LIST     [when, status, or 0 for no answer] of the latest ten failures
// column  twins     LIST     [url, has it the same bytes] of pages of its host with the same bytes or visible text
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page {key: $key})
CALL (p) {
  WITH p WHERE p.state = 'known' AND p.led_to IS NULL AND (p.body_hash IS NOT NULL OR p.text_hash IS NOT NULL)
  MATCH (q:Page {host: p.host})
  WHERE (q.body_hash = p.body_hash OR q.text_hash = p.text_hash) AND q.key <> p.key AND q.state = 'known' AND q.led_to IS NULL
  WITH q.url AS url, coalesce(q.body_hash = p.body_hash, false) AS same ORDER BY NOT same, url LIMIT $limit
  RETURN collect([url, same]) AS twins
}
OPTIONAL MATCH (h:Host {name: p.host})
WITH p, twins, reduce(latest = 0.0, at IN [h.next_at, h.blocked_until, h.probe_at] | CASE WHEN at > latest THEN at ELSE latest END) AS may
WITH twins, CASE WHEN may > $now THEN may END AS host_may,
     CASE WHEN p.queue IS NOT NULL THEN COUNT { (q:Page) WHERE q.queue = p.queue AND q.lane < p.lane AND q.waiting_since IS NOT NULL } END AS ahead,
     CASE WHEN p.queue IS NOT NULL THEN COUNT { (q:Page) WHERE q.queue = p.queue AND q.lane = p.lane AND q.waiting_since IS NOT NULL } - 1 END AS beside,
     p {.change_times, .state_times, .states_before, .failure_times, .failure_statuses} AS m
RETURN ahead, beside, host_may, coalesce(m.change_times, []) AS changes,
       [i IN range(0, size(coalesce(m.state_times, [])) - 1) | [m.state_times[i], m.states_before[i]]] AS states,
       [i IN range(0, size(coalesce(m.failure_times, [])) - 1) | [m.failure_times[i], m.failure_statuses[i]]] AS failures, twins
