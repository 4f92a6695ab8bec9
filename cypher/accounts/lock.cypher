// Lock pages and read their accounts.
//
// `SET p:Page` on a page takes the page's write lock and writes nothing; a property set and removed again costs eight
// times as much, and setting a property to its own value writes a record at commit. A map projection reads a node's
// properties in one pass; one by one, each read walks their chain from its start.
//
// param   ids   LIST  internal ids, sorted
// param   hosts BOOLEAN  whether the host names are wanted
// column  rows  LIST  [id, hub_history, hub_cash, hub_paid, out_weight, authority_history, authority_cash, authority_paid,
//                     in_weight, relevance or -1, depth]; a page that is gone is missing
// column  host_names LIST  host names in the same order, when they are wanted
// column  revision  INTEGER  of the brain's settings, read after the locks: a pass that follows a change waits for them
// rows    one
// locks   the pages, in order of ids
// mode    write
// retry   safe   writes nothing
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p:Page
WITH id(p) AS page, p {.hub_history, .hub_cash, .hub_paid, .out_weight, .authority_history, .authority_cash,
                       .authority_paid, .in_weight, .relevance, .depth, host: CASE WHEN $hosts THEN p.host END} AS m
WITH collect([page, m.hub_history, m.hub_cash, m.hub_paid, m.out_weight, m.authority_history, m.authority_cash,
                m.authority_paid, m.in_weight, coalesce(m.relevance, -1.0), m.depth]) AS rows,
     collect(m.host) AS host_names
MATCH (b:Brain {key: 'brain'})
RETURN rows, host_names, b.revision AS revision
