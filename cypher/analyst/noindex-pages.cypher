// Pages that ask not to be found, and are linked all the same
//
// The most linked first. With a sitemap or a canonical that names them (`in_sitemap`, `named`) they contradict
// themselves.
//
// group     Content
// param     limit  how many pages
// cost      every page
:param limit => 50;

MATCH (p:Page) WHERE p.noindex AND p.state <> 'alias'
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
RETURN COUNT { (p)<-[:LINKS]-() } AS in_links, p.authority_history + p.authority_cash AS authority,
       p.in_sitemap IS NOT NULL AS in_sitemap, p.canonical = p.url AS named, p.url AS url
ORDER BY in_links DESC, url LIMIT $limit
