// Pages of one host that have the title of a better one: how many, and their authority.
//
// column  pages  INTEGER  pages, the best of each group left out
// column  score  FLOAT    their authority
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page) WHERE p.title IS NOT NULL AND p.state = 'known' AND p.led_to IS NULL
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
WITH p.host AS host, p.title AS title, count(*) AS pages, sum(p.authority_history + p.authority_cash) AS score,
     max(p.authority_history + p.authority_cash) AS best
WHERE pages > 1
RETURN coalesce(sum(pages - 1), 0) AS pages, coalesce(sum(score - best), 0.0) AS score
