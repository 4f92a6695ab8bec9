// Pages that went away since a date
//
// Pages that were fetched once, and have failed since, the best first. `since` is when the first visit after the last
// fetch found that; where it is not known, as of a page whose host refuses (429, 503) and is not blamed, the last failure
// decides. A state of gone or parked is final unless the page is retried. Others will be tried again.
//
// group     Changes
// param     days  how many days back
// param     limit  how many pages
// cost      every page
:param days => 7.0;
:param limit => 100;

MATCH (p:Page)
WHERE p.first_fetched IS NOT NULL AND p.failed >= timestamp() / 1000.0 - $days * 86400
  AND coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
WITH p, head([t IN p.state_times WHERE t > p.fetched]) AS since
WHERE coalesce(since, p.failed) >= timestamp() / 1000.0 - $days * 86400
RETURN datetime({epochSeconds: toInteger(p.failed)}) AS failed, p.state AS state,
       CASE WHEN since IS NOT NULL THEN datetime({epochSeconds: toInteger(since)}) END AS since,
       p.status AS status, p.errors AS tries,
       p.authority_history + p.authority_cash AS authority, COUNT { (p)<-[:LINKS]-() } AS in_links, p.url AS url
ORDER BY authority DESC, url LIMIT $limit
