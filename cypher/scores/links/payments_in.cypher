// Return the payments of the pages that link to a page to its authority side, and its payments to them.
//
// param   key     STRING  the page's key
// param   intra   FLOAT   weight of a link inside a host
// param   limit   INTEGER at most this many each
// column  payers  LIST    [url, key, cash, the payer's hub score], the largest cash first
// column  payees  LIST    [url, key, cash, the payee's hub score], the largest cash first, then the largest share of the score
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
OPTIONAL MATCH (p:Page {key: $key})
CALL (p) {
  MATCH (p)<-[:LINKS|LEADS_TO]-(q:Page)
  WITH q, q.hub_paid * CASE WHEN $intra < 1.0 AND q.host = p.host THEN $intra ELSE 1.0 END AS cash
  ORDER BY cash DESC, id(q) LIMIT $limit
  RETURN collect([q.url, q.key, cash, q.hub_history + q.hub_cash]) AS payers
}
CALL (p) {
  MATCH (p)<-[:LINKS|LEADS_TO]-(q:Page)
  WITH p, q, q {.hub_history, .hub_cash} AS m
  WITH q, m.hub_history + m.hub_cash AS score,
       p.authority_paid * CASE WHEN $intra < 1.0 AND q.host = p.host THEN $intra ELSE 1.0 END AS cash
  ORDER BY cash DESC, score, id(q) LIMIT $limit
  RETURN collect([q.url, q.key, cash, score]) AS payees
}
RETURN payers, payees
