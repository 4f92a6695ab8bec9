// Some of the pages that link to a page.
//
// param   key    STRING  the page's key
// param   ids    LIST    internal ids of the links
// column  rows   LIST    [properties of the page at the other end, since when] of each, in the order of ids
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p)<-[r:LINKS]-(q:Page) WHERE id(r) = i AND p.key = $key
WITH i, r.since AS since, q {.url, .key, .state, .depth, .hub_history, .hub_cash, .authority_history, .authority_cash} AS m
RETURN collect([m, since]) AS rows
