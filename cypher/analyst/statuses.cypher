// The answers of servers, by status
//
// A row is an HTTP status of the last try of a page, or null for no answer at all: then `error` has the reason. `fault`
// is the kind of the failure, as in broken-pages; null: the pages do not fail. Pages of `not_sent` do not fail: the
// crawler has not asked for them. `in_links` counts the links that lead to these pages.
//
// group     Errors
// param     limit  how many rows
// cost      every page
:param limit => 50;

MATCH (p:Page) WHERE p.status IS NOT NULL OR p.error IS NOT NULL
RETURN p.status AS status, CASE WHEN coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) OR p.status IS NULL THEN p.fault END AS fault,
       CASE WHEN p.status IS NULL THEN p.error END AS error, count(*) AS pages,
       sum(COUNT { (p)<-[:LINKS]-() }) AS in_links, min(p.url) AS such_as
ORDER BY pages DESC, status, fault LIMIT $limit
