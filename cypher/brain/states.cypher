// Pages by state, and how many wait, are leased, or are to be tried again. Reads every page: for people, not for programs.
//
// column  state    STRING   frontier, known, alias, outside, parked or gone
// column  pages    INTEGER  how many
// column  waiting  INTEGER  of them in a queue
// column  leased   INTEGER  of them held by a worker
// column  retries  INTEGER  of them waiting to be tried again
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
RETURN p.state AS state, count(*) AS pages, count(p.queue) AS waiting, count(p.lease) AS leased,
       count(p.not_before) AS retries
ORDER BY state
