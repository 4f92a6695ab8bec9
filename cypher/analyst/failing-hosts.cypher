// Hosts by the share of their pages that fail
//
// Of the pages of a host that were tried, `failing` do not answer properly now: `server` with 5xx, `client` with 4xx,
// `silent` not at all.
//
// group     Errors
// param     least  only hosts of which so many pages were tried
// param     limit  how many hosts
// cost      every page
:param least => 5;
:param limit => 50;

MATCH (p:Page) WHERE p.status IS NOT NULL OR p.error IS NOT NULL
WITH p.host AS host, p.errors > 0 OR p.state = 'gone' AS fails, p.status AS status
WITH host, count(*) AS tried, count(CASE WHEN fails THEN 1 END) AS failing,
     count(CASE WHEN fails AND status >= 500 THEN 1 END) AS server,
     count(CASE WHEN fails AND status >= 400 AND status < 500 THEN 1 END) AS client,
     count(CASE WHEN fails AND status IS NULL THEN 1 END) AS silent
WHERE tried >= $least AND failing > 0
RETURN host, tried, failing, round(1.0 * failing / tried, 3) AS share, server, client, silent
ORDER BY share DESC, failing DESC, host LIMIT $limit
