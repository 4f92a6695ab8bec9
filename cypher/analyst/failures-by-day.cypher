// When pages failed, day by day
//
// A row is a day in UTC, the latest first, and counts pages by their last failure: `server` is 5xx, `client` 4xx,
// `silent` without any answer; `cured` of them have been fetched since. A page counts once, on the day it failed last.
//
// group     Errors
// param     days  how many days
// cost      every page
:param days => 60;

MATCH (p:Page) WHERE p.failed IS NOT NULL
WITH toInteger(p.failed / 86400.0) AS day, p.errors IS NULL AND p.state <> 'gone' AS cured, p.status AS status
RETURN date(datetime({epochSeconds: day * 86400})) AS day, count(*) AS pages,
       count(CASE WHEN NOT cured AND status >= 500 THEN 1 END) AS server,
       count(CASE WHEN NOT cured AND status >= 400 AND status < 500 THEN 1 END) AS client,
       count(CASE WHEN NOT cured AND status IS NULL THEN 1 END) AS silent, count(CASE WHEN cured THEN 1 END) AS cured
ORDER BY day DESC LIMIT $days
