// Pages whose canonicals contradict each other
//
// A row is a page that states more than one canonical in its head and its `Link` header, or one in its body, where search
// engines ignore it. `stated` has each after its place. `problem` is `several` or `in the body`. `canonical` is the one
// that counts: the first of the head, else of the header. canonical-conflicts has canonicals that lead to bad targets.
//
// group     Content
// param     host  only pages of this host; empty: all
// param     limit  how many pages
// cost      every page
:param host => '';
:param limit => 100;

MATCH (p:Page) WHERE p.canonicals IS NOT NULL AND p.state <> 'alias' AND ($host = '' OR p.host = $host)
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
RETURN CASE WHEN any(one IN p.canonicals WHERE one STARTS WITH 'body ') THEN 'in the body' ELSE 'several' END AS problem,
       p.canonicals AS stated, p.canonical AS canonical,
       CASE WHEN p.state = 'outside' AND p.outside_because = 'scope' THEN 0.0
                ELSE p.authority_history + p.authority_cash END AS authority, p.url AS url
ORDER BY problem, url LIMIT $limit
