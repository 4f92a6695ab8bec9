// Pages that are not to be fetched, by what says so, a row for each reason. Reads every page.
//
// column  because STRING   why: scope, robots
// column  pages   INTEGER  how many
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page {state: 'outside'})
RETURN coalesce(p.outside_because, 'scope') AS because, count(*) AS pages
