// The pages in a range of internal ids that fit; a criterion that is null fits every page.
//
// param   first      INTEGER  the first id
// param   last       INTEGER  the last id
// param   text       STRING   what the URL must contain, or null
// param   host       STRING   the host, or null
// param   state      STRING   the state, or null
// param   fetched    BOOLEAN  whether the page was ever fetched, or null
// param   hub        FLOAT    the least hub score, or null
// param   authority  FLOAT    the least authority score, or null
// param   name       STRING   a batch score, or null
// param   score      FLOAT    the least of it, or null
// column  rows       LIST     [id, url] of each, in the order of ids
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p {.url, .host, .state, .first_fetched, .hub_history, .hub_cash, .authority_history, .authority_cash,
           score: CASE WHEN $name IS NOT NULL THEN p[$name] END} AS m
WHERE m.url IS NOT NULL AND ($text IS NULL OR m.url CONTAINS $text) AND ($host IS NULL OR m.host = $host)
  AND ($state IS NULL OR m.state = $state) AND ($fetched IS NULL OR (m.first_fetched IS NOT NULL) = $fetched)
  AND ($hub IS NULL OR m.hub_history + m.hub_cash >= $hub)
  AND ($authority IS NULL OR m.authority_history + m.authority_cash >= $authority)
  AND ($score IS NULL OR m.score >= $score)
RETURN collect([i, m.url]) AS rows
