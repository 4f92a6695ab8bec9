// Who pays a page: where its authority comes from
//
// A row is a page that links to it, and the cash it has paid along that link, all links weighing the same; `share` is
// the part of the page's authority that makes. (`graphbrain page URL` also counts weights of links inside a host.)
// With an empty url: the best authority.
//
// group     Scores
// param     url  the page's URL as it is in the graph; empty: the best authority
// param     limit  how many payers
// cost      every page, without a url
:param url => '';
:param limit => 20;

CALL () {
  MATCH (p:Page {host: split($url, '/')[2]}) WHERE p.url = $url
  RETURN p
UNION ALL
  WITH $url AS url WHERE url = ''
  MATCH (p:Page)
  RETURN p ORDER BY p.authority_history + p.authority_cash DESC, p.url LIMIT 1
}
MATCH (p)<-[:LINKS|LEADS_TO]-(q:Page)
WITH q.hub_paid AS cash, q, p.authority_history + p.authority_cash AS authority, p
ORDER BY cash DESC, q.url LIMIT $limit
RETURN cash, round(cash / authority, 4) AS share, q.host = p.host AS same_host, q.url AS payer, p.url AS paid
