// Count the pages that have cash, by reading every page and by the indexes on cash.
//
// column  pages    LIST  pages with hub cash, with authority cash
// column  indexes  LIST  the same by index
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () { MATCH (p:Page) RETURN [count(p.hub_cash), count(p.authority_cash)] AS pages }
CALL () { MATCH (p:Page) WHERE p.hub_cash > -1e300 RETURN count(*) AS a }
CALL () { MATCH (p:Page) WHERE p.authority_cash > -1e300 RETURN count(*) AS b }
RETURN pages, [a, b] AS indexes
