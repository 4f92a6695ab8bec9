// Pages that answer slowly
//
// A row is a page whose last fetch took `seconds` or more, the slowest first. slow-hosts has the means of hosts. The crawler
// must report the seconds.
//
// group     Errors
// param     host  only this host; empty: all
// param     seconds  least duration of the fetch
// param     limit  how many pages
// cost      every page
:param host => '';
:param seconds => 1.0;
:param limit => 100;

MATCH (p:Page) WHERE p.state = 'known' AND p.led_to IS NULL AND p.fetch_seconds >= $seconds AND ($host = '' OR p.host = $host)
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
WITH p ORDER BY p.fetch_seconds DESC, p.url LIMIT $limit
RETURN p.fetch_seconds AS seconds, p.size AS bytes, p.authority_history + p.authority_cash AS authority, p.url AS url
ORDER BY seconds DESC, url
