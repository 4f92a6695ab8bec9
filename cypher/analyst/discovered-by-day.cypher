// How fast pages are found, and how fast they are fetched
//
// A row is a day in UTC, the latest first. As long as `discovered` is larger than `first_fetched`, the frontier grows.
//
// group     Progress
// param     days  how many days
// cost      every page
:param days => 60;

MATCH (p:Page)
UNWIND [['discovered', p.discovered], ['fetched', p.first_fetched]] AS event
WITH event[0] AS kind, toInteger(event[1] / 86400.0) AS day WHERE day IS NOT NULL
WITH day, count(CASE kind WHEN 'discovered' THEN 1 END) AS discovered, count(CASE kind WHEN 'fetched' THEN 1 END) AS first_fetched
RETURN date(datetime({epochSeconds: day * 86400})) AS day, discovered, first_fetched
ORDER BY day DESC LIMIT $days
