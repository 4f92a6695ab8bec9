// Simhashes of the texts of pages, and of the texts of 404s and 410s, in a range of ids.
//
// param   first  INTEGER  the first id
// param   last   INTEGER  the last one
// column  rows   LIST     [id, host, simhash of a page that was fetched or null, that of its last 404 or 410 or null]
//                         of each that has one of them
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p {.host, .state, .simhash, .missing_simhash, .led_to, .failed, .fetched} AS p
WITH i, p, coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) AS failing
WITH i, p.host AS host, CASE WHEN p.state = 'known' AND p.led_to IS NULL AND NOT failing THEN p.simhash END AS text,
     CASE WHEN failing THEN p.missing_simhash END AS missing
WHERE text IS NOT NULL OR missing IS NOT NULL
RETURN collect([i, host, text, missing]) AS rows
