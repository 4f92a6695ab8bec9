// Return pages whose links do not count for the right page. That is the page that their canonical names, if it was
// fetched, exists and does not name them; otherwise it is the page itself.
//
// param   rows   LIST     [id, whether those pages are looked at, too, whose canonical names it] of each
// param   limit  INTEGER  at most so many for each of these
// column  rows   LIST     [given, page, wanted, has] of each, all of them ids: given, of these rows; wanted, of the page
//                         that its links should count for, or −1; has, of the one they count for, or −1
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
CALL (p, row) {
  CALL (p, row) {
    RETURN p AS f
  UNION ALL
    MATCH (f:Page) WHERE row[1] AND f.canonical_key = p.key
    RETURN f
  UNION ALL
    MATCH (f:Page)-[:CANONICAL]->(p) WHERE row[1] AND coalesce(f.canonical_key, '') <> p.key
    RETURN f
  }
  OPTIONAL MATCH (q:Page {key: f.canonical_key})
  WITH f, q, f {.key, .state} AS m, q {.key, .state, .first_fetched, .canonical_key} AS n,
       coalesce(head([(f)-[:CANONICAL]->(o) | id(o)]), -1) AS has
  WITH f, has, CASE WHEN q IS NULL OR q = f OR m.state = 'alias' OR n.first_fetched IS NULL OR n.state IN ['alias', 'gone']
                         OR n.canonical_key = m.key THEN -1 ELSE id(q) END AS wanted
  WHERE has <> wanted
  RETURN f, wanted, has LIMIT $limit
}
RETURN collect([row[0], id(f), wanted, has]) AS rows
