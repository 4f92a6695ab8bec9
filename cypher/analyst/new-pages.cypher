// Pages that are new since a date
//
// Pages that were fetched for the first time in these days, the best first. A page that was found but not fetched yet
// is not among them: see next-pages.
//
// group     Changes
// param     days  how many days back
// param     limit  how many pages
// cost      every page
:param days => 7.0;
:param limit => 100;

MATCH (p:Page) WHERE p.first_fetched >= timestamp() / 1000.0 - $days * 86400 AND p.state <> 'alias'
RETURN datetime({epochSeconds: toInteger(p.first_fetched)}) AS first_fetched, p.status AS status,
       p.authority_history + p.authority_cash AS authority, p.url AS url
ORDER BY authority DESC, url LIMIT $limit
