// How many pages there are, and how many shares of payout they have by each policy. Reads every page.
//
// param   target  FLOAT  the relevance from which a page is a target
// column  pages   INTEGER  how many pages
// column  shares  MAP      policy to the sum of shares: 1 for each page that it pays, or the page's relevance
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
WITH p, coalesce(p.relevance, 0.5) AS r
WITH count(p) AS pages, count(p.first_fetched) AS fetched, count(CASE WHEN p.is_seed THEN 1 END) AS seeds,
     count(CASE WHEN r >= $target THEN 1 END) AS targets,
     sum(CASE WHEN r < 0.001 THEN 0.001 WHEN r > 0.999 THEN 0.999 ELSE r END) AS relevance
RETURN pages, {uniform: pages, unfetched: pages - fetched, fetched: fetched, target: targets, relevance: relevance,
               trusted: seeds} AS shares
