// Return the payments of the pages that a page links to to its hub side, and its payments to them.
//
// param   key     STRING  the page's key
// param   intra   FLOAT   weight of a link inside a host
// param   limit   INTEGER at most this many each
// column  payers  LIST    [url, key, cash, the payer's authority score], the largest cash first
// column  payees  LIST    [url, key, cash, the payee's authority score], the largest cash first, then the largest share of the score
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
OPTIONAL MATCH (p:Page {key: $key})
CALL (p) {
  MATCH (p)-[:LINKS|LEADS_TO]->(q:Page)
  WITH q, q.authority_paid * CASE WHEN $intra < 1.0 AND q.host = p.host THEN $intra ELSE 1.0 END AS cash
  ORDER BY cash DESC, id(q) LIMIT $limit
  RETURN collect([q.url, q.key, cash, q.authority_history + q.authority_cash]) AS payers
}
CALL (p) {
  MATCH (p)-[:LINKS|LEADS_TO]->(q:Page)
  WITH p, q, q {.authority_history, .authority_cash} AS m
  WITH q, m.authority_history + m.authority_cash AS score,
       p.hub_paid * CASE WHEN $intra < 1.0 AND q.host = p.host THEN $intra ELSE 1.0 END AS cash
  ORDER BY cash DESC, score, id(q) LIMIT $limit
  RETURN collect([q.url, q.key, cash, score]) AS payees
}
RETURN payers, payees
