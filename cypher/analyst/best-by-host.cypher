// The best pages of each host
//
// Fetched pages by authority, `each` of each host; hosts by their best page.
//
// group     Scores
// param     each  how many pages of a host
// param     limit  how many rows
// cost      every page
:param each => 3;
:param limit => 100;

MATCH (p:Page) WHERE p.state = 'known'
WITH p.host AS host, p.url AS url, p.authority_history + p.authority_cash AS authority
ORDER BY authority DESC, url
WITH host, collect([authority, url])[..$each] AS best
ORDER BY best[0][0] DESC LIMIT $limit
UNWIND best AS page
RETURN host, page[0] AS authority, page[1] AS url
LIMIT $limit
