// Pages by state, and how many wait, are leased, or are to be tried again. Reads every page: for people, not for programs.
//
// param   now      FLOAT    seconds since the epoch
// column  state    STRING   frontier, known, alias, outside, parked or gone
// column  pages    INTEGER  how many
// column  waiting  INTEGER  of them in a queue
// column  leased   INTEGER  of them held by a worker
// column  lapsed   INTEGER  of them held by one whose lease has lapsed, until somebody takes them back
// column  retries  INTEGER  of them waiting to be tried again
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
RETURN p.state AS state, count(*) AS pages, count(p.queue) AS waiting,
       count(CASE WHEN p.lease_until <= $now THEN null ELSE p.lease END) AS leased,
       count(CASE WHEN p.lease_until <= $now THEN p.lease END) AS lapsed, count(p.not_before) AS retries
ORDER BY state
