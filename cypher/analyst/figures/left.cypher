// Pages that were not fetched, by the reason: a row for each. Reads every page.
//
// column  because STRING   scope, robots, …: the page is not to be fetched; empty: it waits for its first try
// column  pages   INTEGER  the number of these pages
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
WHERE p.state = 'outside' OR (p.queue IS NOT NULL AND p.first_fetched IS NULL AND p.failed IS NULL)
RETURN CASE p.state WHEN 'outside' THEN p.outside_because ELSE '' END AS because, count(*) AS pages
