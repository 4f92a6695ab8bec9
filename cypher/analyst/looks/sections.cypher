// Return the pages in a range of ids whose hosts have sections, in the form of sections/pages.
//
// param   first  INTEGER  the first id
// param   last   INTEGER  the last one
// column  rows   LIST     [host, [url, state, was it ever fetched, had a page of its name been fetched before, did its
//                         last try fail, what it brought or null, does it wait or is it claimed, its
//                         authority, 0 outside the scope, does it lead elsewhere for now] of each of its pages] of each host
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH p {.host, .url, .state, .first_fetched, .echo, .failed, .fetched, .brought, .queue, .lease, .not_before,
           .outside_because, .led_by,
           .authority_history, .authority_cash} AS m
WHERE m.host IS NOT NULL
WITH m.host AS host,
     collect([m.url, m.state, m.first_fetched IS NOT NULL, coalesce(m.echo, false),
              coalesce(m.failed, 0.0) > coalesce(m.fetched, 0.0), m.brought,
              m.queue IS NOT NULL OR m.lease IS NOT NULL OR m.not_before IS NOT NULL,
              CASE WHEN m.state = 'outside' AND m.outside_because = 'scope' THEN 0.0
                   ELSE m.authority_history + m.authority_cash END, m.led_by IS NOT NULL]) AS pages
MATCH (s:Site {host: host}) WHERE s.sections IS NOT NULL
RETURN collect([host, pages]) AS rows
