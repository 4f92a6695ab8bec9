// Pages that no page links to
//
// They came by a hint, a sitemap, or as a seed, or have lost their last link. `hinted_by` is the kind of the hint that
// named them last. A page in a sitemap to which no page links can hardly be found by readers. While pages wait to be
// fetched, links of theirs may still lead to these: an answer has the number of those that wait. Pages outside the scope
// are not among them: who links to those is mostly not known.
//
// group     Structure
// param     seeds  also seeds, to which no page need link
// param     host  only this host; empty: all
// param     limit  how many pages
// cost      every page
:param seeds => false;
:param host => '';
:param limit => 100;

MATCH (p:Page) WHERE p.state <> 'alias' AND NOT EXISTS { (p)<-[:LINKS]-() } AND ($seeds OR p.is_seed IS NULL)
  AND ($host = '' OR p.host = $host) AND NOT (p.state = 'outside' AND p.outside_because = 'scope')
RETURN p.state AS state, p.hinted_by AS hinted_by, datetime({epochSeconds: toInteger(p.discovered)}) AS discovered, p.url AS url
ORDER BY p.hinted_by IS NULL, url LIMIT $limit
