// Return the terms of scores besides the links: the hosts of some pages, each named once, and the pages' own values.
//
// Few pages have a relevance or a payout of their own, so only those are listed.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [host, ids of its existing pages, [id, relevance or -1, payout or -1] of those with
//                     either]
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.host, .relevance, .payout} AS m
WITH m.host AS host, collect(page) AS pages,
     collect(CASE WHEN m.relevance IS NOT NULL OR m.payout IS NOT NULL
                  THEN [page, coalesce(m.relevance, -1.0), coalesce(m.payout, -1.0)] END) AS own
RETURN collect([host, pages, own]) AS rows
