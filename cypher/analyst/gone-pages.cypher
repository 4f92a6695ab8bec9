// Pages that went away since a date
//
// Pages that were fetched once, failed in these days, and have not come back; the best first. A state of gone or
// parked is final unless somebody retries them; `since` is when a visit put them into it, empty where the setting
// `orphans` has parked them. Others will be tried again.
//
// group     Changes
// param     days  how many days back
// param     limit  how many pages
// cost      every page
:param days => 7.0;
:param limit => 100;

MATCH (p:Page)
WHERE p.first_fetched IS NOT NULL AND p.failed >= timestamp() / 1000.0 - $days * 86400
  AND (p.state IN ['gone', 'parked'] OR p.errors > 0)
RETURN datetime({epochSeconds: toInteger(p.failed)}) AS failed, p.state AS state,
       CASE WHEN p.state IN ['gone', 'parked'] AND p.parked_because IS NULL
            THEN datetime({epochSeconds: toInteger(p.state_times[-1])}) END AS since,
       p.status AS status, p.errors AS tries,
       p.authority_history + p.authority_cash AS authority, COUNT { (p)<-[:LINKS]-() } AS in_links, p.url AS url
ORDER BY authority DESC, url LIMIT $limit
