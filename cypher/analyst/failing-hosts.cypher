// Hosts by the share of their pages that fail
//
// Of the pages of a host that were tried, `failing` did not answer properly the last time: `client` with 4xx, `refused`
// with 429 or 503, `broken` with another 5xx, 408, 421, 423 or 425, `silent` not at all. `other`: it redirected in a
// circle or nowhere, was not understood, or its report was refused; `fault` of broken-pages has the kind. `authority`
// is that of all its pages inside the scope.
//
// group     Errors
// param     least  only hosts of which so many pages were tried
// param     share  only hosts of whose tried pages at least this share fails, 0 to 1
// param     limit  how many hosts
// cost      every page
:param least => 1;
:param share => 0.0;
:param limit => 50;

MATCH (p:Page)
WITH p.host AS host, CASE WHEN p.state = 'outside' AND p.outside_because = 'scope' THEN 0.0
     ELSE p.authority_history + p.authority_cash END AS score,
     CASE WHEN p.status IS NOT NULL OR p.failed IS NOT NULL THEN 1 END AS tried,
     CASE WHEN coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) THEN
                 CASE WHEN p.status IN [429, 503] THEN 'refused'
                      WHEN p.status >= 500 OR p.status IN [408, 421, 423, 425] THEN 'broken'
                      WHEN p.status >= 400 THEN 'client'
                      WHEN coalesce(p.fault, 'silent') = 'silent' AND p.status IS NULL
                       AND NOT coalesce(p.error, '') STARTS WITH 'refused: ' THEN 'silent'
                      ELSE 'other' END END AS fault
WITH host, count(tried) AS tried, sum(score) AS authority, count(fault) AS failing, count(CASE fault WHEN 'client' THEN 1 END) AS client,
     count(CASE fault WHEN 'refused' THEN 1 END) AS refused, count(CASE fault WHEN 'broken' THEN 1 END) AS broken,
     count(CASE fault WHEN 'silent' THEN 1 END) AS silent, count(CASE fault WHEN 'other' THEN 1 END) AS other
WHERE tried >= $least AND failing > 0 AND 1.0 * failing / tried >= $share
RETURN host, tried, failing, round(1.0 * failing / tried, 3) AS share, client, refused, broken, silent, other, authority
ORDER BY share DESC, failing DESC, host LIMIT $limit
