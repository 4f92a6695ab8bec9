// Links that leave the scope and redirect
//
// A row is a URL outside the scope that answered a check by a redirect, the most linked first: `status` and `steps` of the
// redirects, `to` the URL where they ended, what that answered (`at_last`), and three of the pages that link to it. It is
// known of links that `graphbrain check-links` has asked for, and that crawlers have fetched.
//
// group     Errors
// param     limit  how many URLs
// cost      every checked link
:param limit => 100;

MATCH (r:Resource {kind: 'link'}) WHERE r.led_to IS NOT NULL
MATCH (q:Page {url: substring(r.key, 5)})
WITH r, q, COUNT { (q)<-[:LINKS]-() } AS links ORDER BY links DESC, q.url LIMIT $limit
RETURN links, r.led_status AS status, r.led_steps AS steps, r.status AS at_last, r.led_to AS to,
       [(from:Page)-[:LINKS]->(q) | from.url][..3] AS linked_from, q.url AS url
ORDER BY links DESC, url
