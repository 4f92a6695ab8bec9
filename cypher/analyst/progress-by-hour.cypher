// What was done, hour by hour
//
// A row is an hour in UTC, the latest first, over all workers. Pages and links are those reported; payments are moves
// of cash between pages that keep the scores right. Hours in which nothing was done are missing.
//
// group     Progress
// param     hours  how many hours
:param hours => 48;

MATCH (c:Hour)
WITH c.hour AS hour, sum(c.pages) AS pages, sum(c.links) AS links, sum(c.claims) AS claims, sum(c.payments) AS payments,
     count(*) AS workers
RETURN datetime({epochSeconds: hour * 3600}) AS hour, pages, links, claims, payments, workers
ORDER BY hour DESC LIMIT $hours
