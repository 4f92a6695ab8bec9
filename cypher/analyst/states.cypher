// The number of pages in each state
//
// A row is a state: frontier (waits or is claimed), known (fetched), outside (not to be fetched), alias (redirects
// permanently), parked (given up, or no page links to it), gone (missing `max_errors` times in a row). `fetched` counts those that
// were ever fetched, `waiting` those in a queue.
//
// group     Progress
// cost      every page

MATCH (p:Page)
RETURN p.state AS state, count(*) AS pages, count(p.first_fetched) AS fetched, count(p.queue) AS waiting
ORDER BY pages DESC, state
