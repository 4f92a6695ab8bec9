// Hubs that brought the most new good pages
//
// A row is a page whose links of these days led to `found` pages that nobody knew before; sorted by the authority of
// these pages. These are the pages to visit often. Of the new pages the `newest` best are looked at.
//
// group     Scores
// param     days  how many days back
// param     newest  how many new pages are looked at, the best first
// param     limit  how many hubs
// cost      every page, and the links to those that are new
:param days => 7.0;
:param newest => 3000;
:param limit => 20;

MATCH (found:Page) WHERE found.discovered >= timestamp() / 1000.0 - $days * 86400 AND found.state = 'known'
WITH found, found.authority_history + found.authority_cash AS score ORDER BY score DESC LIMIT $newest
CALL (found) {
  MATCH (hub:Page)-[link:LINKS]->(found) WHERE link.since <= found.discovered + 1 AND hub.state <> 'alias'
  RETURN hub
}
WITH hub, count(*) AS found, sum(score) AS authority, collect(found.url)[..3] AS such_as
RETURN found, authority, hub.visits AS visits, such_as, hub.url AS url
ORDER BY authority DESC, url LIMIT $limit
