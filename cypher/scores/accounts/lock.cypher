// Lock pages and read their accounts.
//
// The statement locks all pages, and then looks them up again, as every statement here that locks and reads: it may read
// no property of the pages that are set. Read by the same variable, properties were sometimes read before the lock
// (`CacheProperties` below `SetLabels`, in one plan of eight that was made while pages came and went), and such a plan
// is kept for a while. `SET p:Page` on a page takes the page's write lock and writes nothing; a property that is set and
// removed again costs eight times as much, and setting a property to its own value writes a record at commit. A map
// projection of plain properties reads a node's chain in one pass; separate reads, or an expression among them, walk it anew.
//
// param   ids   LIST  internal ids, sorted
// param   made  LIST  those of them that this transaction has created
// column  rows  LIST  [id, hub_history, hub_cash, hub_paid, out_weight, authority_history, authority_cash, authority_paid,
//                     in_weight, relevance or -1, depth, first_fetched or -1, lane, 1 for a seed or 0, path_repeats,
//                     siblings_before, harvest, url_weight, flow or -1, flow_paid or -1, live_pagerank or -1,
//                     live_pagerank_paid or -1, links_sum or -1]; a deleted page is missing
// column  revision  INTEGER  of the brain's settings, read after the locks: a pass that follows a change waits for them;
//                     null while an import is made a brain, when accounts must not be written
// column  unlinked  LIST  those of `made` to which no page links
// rows    one
// locks   the pages, in order of ids
// mode    write
// retry   safe   writes nothing
UNWIND $ids AS i
MATCH (locked:Page) WHERE id(locked) = i
SET locked:Page
WITH collect(id(locked)) AS held
UNWIND held AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.hub_history, .hub_cash, .hub_paid, .out_weight, .authority_history, .authority_cash,
                       .authority_paid, .in_weight, .relevance, .depth, .first_fetched, .lane,
                       .is_seed, .path_repeats, .siblings_before, .harvest, .url_weight, .flow, .flow_paid, .live_pagerank,
                       .live_pagerank_paid, .links_sum} AS m
WITH collect([page, m.hub_history, m.hub_cash, m.hub_paid, m.out_weight, m.authority_history, m.authority_cash,
              m.authority_paid, m.in_weight, coalesce(m.relevance, -1.0), m.depth, coalesce(m.first_fetched, -1.0),
              m.lane, CASE WHEN m.is_seed THEN 1 ELSE 0 END, coalesce(m.path_repeats, 0),
              coalesce(m.siblings_before, 0), coalesce(m.harvest, 1.0), coalesce(m.url_weight, 1.0),
              coalesce(m.flow, -1.0), coalesce(m.flow_paid, -1.0),
              coalesce(m.live_pagerank, -1.0), coalesce(m.live_pagerank_paid, -1.0), coalesce(m.links_sum, -1)]) AS rows
OPTIONAL MATCH (b:Brain {key: 'brain'})
WITH rows, b.revision AS revision
CALL () {
  UNWIND $made AS i
  MATCH (n:Page) WHERE id(n) = i AND NOT EXISTS { (n)<-[:LINKS|LEADS_TO]-() }
  RETURN collect(id(n)) AS unlinked
}
RETURN rows, revision, unlinked
