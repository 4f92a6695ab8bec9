// What makes pages orphans, of pages to which nothing leads.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, state, hinted_by, discovered, url, host, authority, is_seed, is_listed] of each; hinted_by: the
//                     kind of the hint that named it last or '', discovered: seconds since the epoch, is_listed: it is
//                     inside the scope and no redirect
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
RETURN collect([i, p.state, coalesce(p.hinted_by, ''), p.discovered, p.url, p.host, p.authority_history + p.authority_cash,
                coalesce(p.is_seed, false),
                p.state <> 'alias' AND p.led_by IS NULL
                AND NOT (p.state = 'outside' AND coalesce(p.outside_because = 'scope', false))]) AS rows
