// Click depth against what is there
//
// A row is a number of clicks from a seed. `failing` pages do not answer properly, `authority` is the mean score.
// Pages that matter should be near; where the mean score rises with depth, good pages are hidden.
//
// group     Structure
// cost      every page

MATCH (p:Page)
RETURN CASE WHEN p.depth < 2147483647 THEN p.depth END AS depth, count(*) AS pages, count(p.first_fetched) AS fetched,
       count(CASE WHEN p.errors > 0 OR p.state = 'gone' THEN 1 END) AS failing,
       round(avg(p.authority_history + p.authority_cash), 3) AS authority,
       round(max(p.authority_history + p.authority_cash), 3) AS best
ORDER BY depth
