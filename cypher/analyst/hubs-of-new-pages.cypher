// Hubs that brought the most new good pages
//
// A row is a page whose links of these days led to `found` pages that were not known before; sorted by the authority of
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
WITH found, found.authority_history + found.authority_cash AS score ORDER BY score DESC, found.url LIMIT $newest
WITH collect([found, score, found.discovered + 1]) AS rows, collect(found) AS best
// Pages are looked at once their links are counted: a hub has hundreds of these.
CALL (rows) {
  UNWIND rows AS row
  WITH row[0] AS found, row[1] AS score, row[2] AS latest
  MATCH (hub)-[link:LINKS]->(found) WHERE link.since <= latest
  RETURN hub, count(*) AS found, sum(score) AS authority
}
WITH best, hub, found, authority WHERE hub.state <> 'alias'
WITH best, hub, found, authority ORDER BY authority DESC, hub.url LIMIT $limit
CALL (best, hub) {
  MATCH (hub)-[link:LINKS]->(page:Page) WHERE link.since <= page.discovered + 1 AND page IN best
  WITH page ORDER BY page.authority_history + page.authority_cash DESC, page.url LIMIT 3
  RETURN collect(page.url) AS such_as
}
RETURN found, authority, hub.visits AS visits, such_as, hub.url AS url
ORDER BY authority DESC, url
