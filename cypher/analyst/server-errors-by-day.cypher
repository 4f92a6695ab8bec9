// Server errors over time, host by host
//
// A row is a day in UTC, the latest first, and a host: its `errors` are answers of 5xx on that day, `refusals` of them
// 503, on so many `pages`. Of each page the last ten failures are kept.
//
// group     Errors
// param     host  only this host; empty: all
// param     days  how many days back
// param     limit  how many rows
// cost      every page
:param host => '';
:param days => 30.0;
:param limit => 100;

MATCH (p:Page) WHERE p.failure_times IS NOT NULL AND ($host = '' OR p.host = $host)
UNWIND range(0, size(p.failure_times) - 1) AS i
WITH p, p.failure_times[i] AS at, p.failure_statuses[i] AS status
WHERE status >= 500 AND at >= timestamp() / 1000.0 - $days * 86400
WITH toInteger(at / 86400.0) AS day, p.host AS host, count(*) AS errors, count(CASE status WHEN 503 THEN 1 END) AS refusals,
     count(DISTINCT p) AS pages
RETURN date(datetime({epochSeconds: day * 86400})) AS day, host, errors, refusals, pages
ORDER BY day DESC, errors DESC, host LIMIT $limit
