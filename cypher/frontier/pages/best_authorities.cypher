// The pages of at least some authority score that fit, best first; a criterion that is null fits every page.
//
// They are found by their rank, which scores from 32 on have.
//
// param   rank       INTEGER  the rank of the least score
// param   least      FLOAT    the least authority score
// param   text       STRING   what the URL must contain, or null
// param   host       STRING   the host, or null
// param   state      STRING   the state, or null
// param   fetched    BOOLEAN  whether the page was ever fetched, or null
// column  ids        LIST     internal ids, best first
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page) WHERE p.authority_rank >= $rank
WITH id(p) AS i, p {.url, .host, .state, .first_fetched, .authority_history, .authority_cash} AS m
WITH i, m, m.authority_history + m.authority_cash AS score
WHERE score >= $least AND ($text IS NULL OR m.url CONTAINS $text) AND ($host IS NULL OR m.host = $host)
  AND ($state IS NULL OR m.state = $state) AND ($fetched IS NULL OR (m.first_fetched IS NOT NULL) = $fetched)
WITH i, score ORDER BY score DESC, i
RETURN collect(i) AS ids
