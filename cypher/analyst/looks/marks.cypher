// The pages in a range of ids, packed for counts by click. A list of numbers is read in a third of the time of a list of
// rows.
//
// param   first      INTEGER  the first id
// param   last       INTEGER  the last one
// column  pages      LIST     id · 8 + 1 for one that was ever fetched + 2 for one that is failing + 4 for one inside the scope
// column  authority  LIST     of each of them
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p {.state, .authority_history, .authority_cash, .fetched, .first_fetched, .failed, .outside_because} AS p
WHERE p.state IS NOT NULL AND p.authority_history + p.authority_cash IS NOT NULL
RETURN collect(i * 8 + CASE WHEN p.first_fetched IS NULL THEN 0 ELSE 1 END
                     + CASE WHEN coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) THEN 2 ELSE 0 END
                     + CASE WHEN p.state = 'outside' AND p.outside_because = 'scope' THEN 0 ELSE 4 END) AS pages,
       collect(p.authority_history + p.authority_cash) AS authority
