// The pages in a range of ids for a summary: scores, times of visits, failures.
//
// param   first  INTEGER  the first id
// param   last   INTEGER  the last one
// column  rows   LIST     [id, host, state, authority, hub, last fetched or -1, was it ever fetched, is it failing, does it
//                         lead elsewhere for now, why it is outside or null, hash of its bytes or null] of each
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p {.host, .state, .authority_history, .authority_cash, .hub_history, .hub_cash, .fetched, .first_fetched, .failed,
           .led_by, .outside_because, .body_hash} AS p
RETURN collect([i, p.host, p.state, p.authority_history + p.authority_cash, p.hub_history + p.hub_cash,
                coalesce(p.fetched, -1.0), p.first_fetched IS NOT NULL, coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0),
                p.led_by IS NOT NULL, p.outside_because, p.body_hash]) AS rows
