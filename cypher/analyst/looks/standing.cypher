// What a summary tells of pages in a range of ids: how much they matter, how deep they lie, when they were fetched.
//
// param   first  INTEGER  the first id
// param   last   INTEGER  the last one
// column  rows   LIST     [id, host, state, depth, authority, hub, last fetched or -1, was it ever fetched, hash of its bytes or null] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p {.host, .state, .depth, .authority_history, .authority_cash, .hub_history, .hub_cash, .fetched, .first_fetched,
           .body_hash} AS m
RETURN collect([i, m.host, m.state, m.depth, m.authority_history + m.authority_cash, m.hub_history + m.hub_cash,
                coalesce(m.fetched, -1.0), m.first_fetched IS NOT NULL, m.body_hash]) AS rows
