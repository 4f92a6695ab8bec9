// The hosts of pages in a range of ids, and how much the pages matter: a host is named once for all its pages.
//
// param   first  INTEGER  the first id
// param   last   INTEGER  the last one
// column  rows   LIST     [host, ids of its pages, their authority in the same order] of each host
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH i, p {.host, .authority_history, .authority_cash} AS m WHERE m.host IS NOT NULL
WITH m.host AS host, collect(i) AS ids, collect(coalesce(m.authority_history + m.authority_cash, 0.0)) AS scores
RETURN collect([host, ids, scores]) AS rows
