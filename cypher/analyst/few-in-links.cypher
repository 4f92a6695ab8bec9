// Valuable pages that few pages link to
//
// Pages with at most `most` links to them, the highest scores first: one good page vouches for them. Links to them from
// elsewhere would make them easier to find, and their score less a matter of one page. A page that no good page vouches
// for has about 1.
//
// group     Structure
// param     most  the most links that are few
// param     limit  how many pages
// cost      every page
:param most => 2;
:param limit => 50;

MATCH (p:Page) WHERE p.state = 'known'
WITH p, COUNT { (p)<-[:LINKS]-() } AS in_links, p.authority_history + p.authority_cash AS authority
WHERE in_links > 0 AND in_links <= $most
RETURN authority, in_links, p.depth AS depth, p.url AS url
ORDER BY authority DESC, url LIMIT $limit
