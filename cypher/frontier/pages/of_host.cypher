// The pages of a host that fit; a criterion that is null fits every page.
//
// param   limit      INTEGER  look at no more pages of the host than this
// param   text       STRING   what the URL must contain, or null
// param   host       STRING   the host
// param   state      STRING   the state, or null
// param   fetched    BOOLEAN  whether the page was ever fetched, or null
// param   hub        FLOAT    the least hub score, or null
// param   authority  FLOAT    the least authority score, or null
// param   name       STRING   a batch score, or null
// param   score      FLOAT    the least of it, or null
// column  seen       INTEGER  how many pages of the host were looked at
// column  rows       LIST     [id, url] of each that fits
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page {host: $host})
WITH p LIMIT $limit
WITH id(p) AS i, p {.url, .state, .first_fetched, .hub_history, .hub_cash, .authority_history, .authority_cash,
                    score: CASE WHEN $name IS NOT NULL THEN p[$name] END} AS m
RETURN count(*) AS seen, collect(
  CASE WHEN m.url IS NOT NULL AND ($text IS NULL OR m.url CONTAINS $text) AND ($state IS NULL OR m.state = $state)
        AND ($fetched IS NULL OR (m.first_fetched IS NOT NULL) = $fetched)
        AND ($hub IS NULL OR m.hub_history + m.hub_cash >= $hub)
        AND ($authority IS NULL OR m.authority_history + m.authority_cash >= $authority)
        AND ($score IS NULL OR m.score >= $score)
       THEN [i, m.url] END) AS rows
