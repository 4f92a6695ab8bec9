// Pages that lead elsewhere for now
//
// A row is a page whose last visit was led on by a temporary redirect (302, 303, 307), or, with the status 200, by a refresh
// in 0 seconds; `led_to` are the URLs on the way, the last one where the content was. What stays so for long is better a
// redirect for good: links to such a page count for it, and not for where it leads.
//
// group     Errors
// param     limit  how many pages
// cost      every page
:param limit => 100;

MATCH (p:Page) WHERE p.led_to IS NOT NULL
WITH p, COUNT { (p)<-[:LINKS]-() } AS in_links ORDER BY in_links DESC, p.url LIMIT $limit
RETURN p.status AS status, in_links, p.led_to AS led_to, p.url AS url
ORDER BY in_links DESC, url
