// The simhashes of pages that answer, in a range of ids.
//
// param   first  INTEGER  the first id
// param   last   INTEGER  the last one
// column  rows   LIST     [id, simhash] of each that has one
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p {.simhash, .state, .led_to, .failed, .fetched} AS m
  WHERE m.simhash IS NOT NULL AND m.state = 'known' AND m.led_to IS NULL AND NOT coalesce(m.failed, 0.0) > coalesce(m.fetched, 0.0)
RETURN collect([i, m.simhash]) AS rows
