// Sum up all accounts of a classic brain. Reads every page.
//
// param   rebased    INTEGER  pages with smaller ids are counted apart
// column  pages      INTEGER  how many
// column  hub        FLOAT    sum of stored hub cash
// column  authority  FLOAT    sum of stored authority cash
// column  hub_history        FLOAT  sum
// column  authority_history  FLOAT  sum
// column  apart      INTEGER  how many have smaller ids
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
RETURN count(p) AS pages, coalesce(sum(p.hub_cash), 0.0) AS hub, coalesce(sum(p.authority_cash), 0.0) AS authority,
       coalesce(sum(p.hub_history), 0.0) AS hub_history, coalesce(sum(p.authority_history), 0.0) AS authority_history,
       count(CASE WHEN id(p) < $rebased THEN 1 END) AS apart
