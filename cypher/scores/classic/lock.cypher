// Lock pages and read their accounts in the form of the classic engine.
//
// param   ids   LIST  internal ids, sorted
// param   made  LIST  those of them that this transaction has created
// column  rows  LIST  [id, hub_history, hub_cash, hub_updated, out_weight, authority_history, authority_cash,
//                     authority_updated, in_weight, relevance or -1, depth, first_fetched or -1,
//                     1 of a page that this transaction has created, lane, 1 for a seed or 0, path_repeats,
//                     siblings_before, harvest, url_weight, flow or -1, flow_paid or -1, live_pagerank or -1,
//                     live_pagerank_paid or -1, links_sum or -1]; a deleted page is missing
// column  revision  INTEGER  of the brain's settings, read after the locks: a pass that follows a change waits for them
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
WITH id(p) AS page, p {.hub_history, .hub_cash, .hub_paid, .hub_updated, .out_weight, .authority_history,
                       .authority_cash, .authority_updated, .in_weight, .relevance, .depth, .first_fetched, .lane,
                       .is_seed, .path_repeats, .siblings_before, .harvest, .url_weight, .flow, .flow_paid, .live_pagerank,
                       .live_pagerank_paid, .links_sum} AS m
WITH collect([page, m.hub_history, m.hub_cash, coalesce(m.hub_updated, 0.0), m.out_weight, m.authority_history,
              m.authority_cash, coalesce(m.authority_updated, 0.0), m.in_weight, coalesce(m.relevance, -1.0), m.depth,
              coalesce(m.first_fetched, -1.0), m.hub_paid, m.lane, CASE WHEN m.is_seed THEN 1 ELSE 0 END,
              coalesce(m.path_repeats, 0), coalesce(m.siblings_before, 0), coalesce(m.harvest, 1.0), coalesce(m.url_weight, 1.0),
              coalesce(m.flow, -1.0),
              coalesce(m.flow_paid, -1.0), coalesce(m.live_pagerank, -1.0), coalesce(m.live_pagerank_paid, -1.0),
              coalesce(m.links_sum, -1)]) AS rows
MATCH (b:Brain {key: 'brain'})
WITH rows, b.revision AS revision
CALL () {
  UNWIND $made AS i
  MATCH (n:Page) WHERE id(n) = i AND NOT EXISTS { (n)<-[:LINKS|LEADS_TO]-() }
  RETURN collect(id(n)) AS unlinked
}
RETURN rows, revision, unlinked
