// Write the weight of out-links and the sum that identifies them, and compare the weight with the present links.
//
// param   ids         LIST     internal ids; the caller has locked the pages
// param   out_weight  LIST     of each
// param   links_sum   LIST     of each: the sum of the hashed ids of the pages it links to, or null if unknown
// param   even        BOOLEAN  whether every link weighs 1; otherwise the weights are not compared
// column  wrong  LIST    ids of those whose number of links differs
// rows    one
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND range(0, size($ids) - 1) AS i
MATCH (p:Page) WHERE id(p) = $ids[i]
SET p.out_weight = $out_weight[i], p.links_sum = $links_sum[i]
WITH i, COUNT { (p)-[:LINKS]->() } AS links
RETURN collect(CASE WHEN $even AND abs(links - $out_weight[i]) > 1e-6 * (1.0 + links) THEN $ids[i] END) AS wrong
