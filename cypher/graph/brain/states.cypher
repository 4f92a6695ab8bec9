// Count pages by state, and the waiting, leased and failed pages of each state. Reads every page: for people, not for
// programs.
//
// param   now      FLOAT    seconds since the epoch
// column  state    STRING   frontier, known, alias, outside, parked or gone
// column  pages    INTEGER  their number
// column  beyond   INTEGER  of them outside the scope; robots.txt forbids the others of the state outside
// column  waiting  INTEGER  of them in a queue
// column  leased   INTEGER  of them held by a worker
// column  lapsed   INTEGER  of them held by a worker whose lease has lapsed and was not yet taken back
// column  retries  INTEGER  of them waiting to be tried again
// column  hub      FLOAT    the sum of their hub accounts, cash and history
// column  authority FLOAT   the sum of their authority accounts
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
RETURN p.state AS state, count(*) AS pages,
       count(CASE WHEN p.state = 'outside' AND p.outside_because = 'scope' THEN 1 END) AS beyond, count(p.queue) AS waiting,
       count(CASE WHEN p.lease_until <= $now THEN null ELSE p.lease END) AS leased,
       count(CASE WHEN p.lease_until <= $now THEN p.lease END) AS lapsed, count(p.not_before) AS retries,
       sum(coalesce(p.hub_cash, 0.0) + coalesce(p.hub_history, 0.0)) AS hub,
       sum(coalesce(p.authority_cash, 0.0) + coalesce(p.authority_history, 0.0)) AS authority
ORDER BY state
