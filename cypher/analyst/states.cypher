// How many pages there are, in which state
//
// A row is a state: frontier (waits or is held), known (fetched), outside (not to be fetched), alias (redirects for
// good), parked (given up, or nobody links to it), gone (the server said so). `fetched` counts those that were ever
// fetched, `waiting` those in a queue.
//
// group     Progress
// cost      every page

MATCH (p:Page)
RETURN p.state AS state, count(*) AS pages, count(p.first_fetched) AS fetched, count(p.queue) AS waiting
ORDER BY pages DESC, state
