// The types of structured data, and blocks that cannot be parsed
//
// A row is a type, after its syntax (json-ld, microdata or rdfa), with the pages of a host that have it. `invalid json-ld` is
// no type: these pages have a block of JSON-LD that is no JSON, which search engines ignore. The crawler must report them.
//
// group     Content
// param     host  only this host; empty: all
// param     type  only this type; empty: all
// param     each  how many pages of a type are named
// param     limit  how many rows
// cost      every page
:param host => '';
:param type => '';
:param each => 3;
:param limit => 100;

MATCH (p:Page) WHERE p.structured IS NOT NULL AND p.state = 'known' AND p.led_to IS NULL AND ($host = '' OR p.host = $host)
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
UNWIND p.structured AS type
WITH p, type WHERE $type = '' OR type = $type
WITH p.host AS host, type, count(*) AS pages, sum(p.authority_history + p.authority_cash) AS authority, collect(p.url) AS urls
ORDER BY pages DESC, host, type LIMIT $limit
CALL (urls) { UNWIND urls AS url WITH url ORDER BY url LIMIT $each RETURN collect(url) AS such_as }
RETURN type, pages, authority, host, such_as
ORDER BY pages DESC, host, type
