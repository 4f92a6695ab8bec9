// Lock pages and read their accounts.
//
// `SET p:Page` on a page takes the page's write lock and writes nothing; a property set and removed again costs eight
// times as much, and setting a property to its own value writes a record at commit.
//
// param   ids   LIST  internal ids, sorted
// param   hosts BOOLEAN  whether the host names are wanted
// column  rows  LIST  [id, hub_history, hub_cash, hub_paid, out_weight, authority_history, authority_cash, authority_paid,
//                     in_weight, relevance or -1, links_changed, depth]; a page that is gone is missing
// column  host_names LIST  host names in the same order, when they are wanted
// rows    one
// locks   the pages, in order of ids
// mode    write
// retry   safe   writes nothing
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p:Page
WITH p
RETURN collect([id(p), p.hub_history, p.hub_cash, p.hub_paid, p.out_weight,
                p.authority_history, p.authority_cash, p.authority_paid, p.in_weight,
                coalesce(p.relevance, -1.0), p.links_changed, p.depth]) AS rows,
       CASE WHEN $hosts THEN collect(p.host) ELSE [] END AS host_names
