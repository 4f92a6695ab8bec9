// When pages failed, day by day
//
// A row is a day in UTC, the latest first, and counts pages by their last failure, with the kinds of failing-hosts; `cured` of them
// have been fetched since. A page counts once, on the day it failed last.
//
// group     Errors
// param     days  how many days
// cost      every page
:param days => 60;

MATCH (p:Page) WHERE p.failed IS NOT NULL
WITH toInteger(p.failed / 86400.0) AS day, CASE WHEN coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) THEN
                 CASE WHEN p.status IN [429, 503] THEN 'refused'
                      WHEN p.status >= 500 OR p.status IN [408, 421, 423, 425] THEN 'broken'
                      WHEN p.status >= 400 THEN 'client'
                      WHEN coalesce(p.fault, 'silent') = 'silent' AND p.status IS NULL
                       AND NOT coalesce(p.error, '') STARTS WITH 'refused: ' THEN 'silent'
                      ELSE 'other' END ELSE 'cured' END AS fault
RETURN date(datetime({epochSeconds: day * 86400})) AS day, count(*) AS pages, count(CASE fault WHEN 'client' THEN 1 END) AS client,
       count(CASE fault WHEN 'refused' THEN 1 END) AS refused, count(CASE fault WHEN 'broken' THEN 1 END) AS broken,
       count(CASE fault WHEN 'silent' THEN 1 END) AS silent, count(CASE fault WHEN 'other' THEN 1 END) AS other,
       count(CASE fault WHEN 'cured' THEN 1 END) AS cured
ORDER BY day DESC LIMIT $days
