// Sums over the pages in a range of internal ids, by their states. Reads each of them: it is sampled, now and then.
//
// The chance that a copy still equals its page t days after the last visit, if the change rate per day is distributed as
// Gamma(a, b): (b / (b + t))^a.
//
// param   first    INTEGER  the first id
// param   last     INTEGER  the last id
// param   now      FLOAT    seconds since the epoch
// param   shape    FLOAT    a of pages that were never visited twice
// param   scale    FLOAT    b of these, in days
// column  state    STRING   frontier, known, alias, outside, parked or gone
// column  pages    INTEGER  how many
// column  beyond   INTEGER  of them outside the scope; robots.txt forbids the others of the state outside
// column  waiting  INTEGER  of them in a queue
// column  shared   INTEGER  of them in the queue of all hosts
// column  retries  INTEGER  of them waiting to be tried again
// column  hub      FLOAT    hub cash on them that was not passed on yet
// column  authority FLOAT   authority cash on them that was not passed on yet
// column  copies   INTEGER  of them those that were fetched
// column  fresh    FLOAT    sum of the chances of these
// column  age      FLOAT    sum of the seconds since these were fetched
// rows    many
// locks   none
// mode    read
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH p {.state, .outside_because, .queue, .not_before, .hub_cash, .authority_cash, .fetched, .rate_shape, .rate_scale} AS m
WITH m, CASE WHEN m.state = 'known' AND m.fetched IS NOT NULL
             THEN CASE WHEN m.fetched < $now THEN $now - m.fetched ELSE 0.0 END END AS age
WITH m, age, coalesce(m.rate_scale, $scale) AS b
RETURN m.state AS state, count(*) AS pages,
       count(CASE WHEN m.state = 'outside' AND m.outside_because = 'scope' THEN 1 END) AS beyond,
       count(m.queue) AS waiting, count(CASE WHEN m.queue = '*' THEN 1 END) AS shared,
       count(m.not_before) AS retries, sum(coalesce(m.hub_cash, 0.0)) AS hub,
       sum(coalesce(m.authority_cash, 0.0)) AS authority, count(age) AS copies,
       coalesce(sum((b / (b + age / 86400.0)) ^ coalesce(m.rate_shape, $shape)), 0.0) AS fresh,
       coalesce(sum(age), 0.0) AS age
