// Count the pages with each fault, and sum the authority of those inside the scope. The faults are those that the
// questions broken-pages, robots-blocked, noindex-pages, temporary-redirects, thin-and-huge-pages, titles, descriptions,
// headings, slow-pages, images, insecure-content and structured-data list.
//
// column  total  FLOAT  the authority of all pages inside the scope
// column  rows   LIST   [fault, pages, their authority] of each fault
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page)
WITH p, p.state = 'outside' AND p.outside_because = 'scope' AS left,
     coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) AS fails
WITH p, left, fails, p.state = 'known' AND p.led_to IS NULL AND NOT fails AS read
WITH CASE WHEN left THEN 0.0 ELSE p.authority_history + p.authority_cash END AS score,
     fails AND p.state <> 'outside' AS failing,
     coalesce(p.outside_because = 'robots', false) AND EXISTS { (p)<-[:LINKS]-() } AS barred,
     coalesce(p.noindex, false) AND p.state <> 'alias' AND NOT fails AS hidden, p.led_to IS NOT NULL AS led,
     read AND (coalesce(p.size < 1024, false) OR coalesce(p.words < 50, false))
       AND coalesce(p.content_type, 'text/html') IN ['text/html', 'application/xhtml+xml'] AS thin,
     read AND p.title IS NULL AND p.size IS NOT NULL
       AND coalesce(p.content_type IN ['text/html', 'application/xhtml+xml'], false) AS untitled,
     read AND coalesce(size(p.descriptions) = 0, false) AS undescribed, read AND coalesce(size(p.h1) = 0, false) AS headless,
     read AND coalesce(p.fetch_seconds >= 1.0, false) AS slow,
     read AND any(item IN p.requisites WHERE item STARTS WITH 'image ' AND NOT substring(item, 6) CONTAINS ' ') AS altless,
     read AND p.url STARTS WITH 'https:' AND any(item IN p.requisites WHERE item =~ '(image|script|style|media) http:.*') AS mixed,
     read AND coalesce('invalid json-ld' IN p.structured, false) AS unparsed
RETURN coalesce(sum(score), 0.0) AS total,
       [['failing', count(CASE WHEN failing THEN 1 END), sum(CASE WHEN failing THEN score ELSE 0.0 END)],
        ['barred', count(CASE WHEN barred THEN 1 END), sum(CASE WHEN barred THEN score ELSE 0.0 END)],
        ['hidden', count(CASE WHEN hidden THEN 1 END), sum(CASE WHEN hidden THEN score ELSE 0.0 END)],
        ['led', count(CASE WHEN led THEN 1 END), sum(CASE WHEN led THEN score ELSE 0.0 END)],
        ['thin', count(CASE WHEN thin THEN 1 END), sum(CASE WHEN thin THEN score ELSE 0.0 END)],
        ['untitled', count(CASE WHEN untitled THEN 1 END), sum(CASE WHEN untitled THEN score ELSE 0.0 END)],
        ['undescribed', count(CASE WHEN undescribed THEN 1 END), sum(CASE WHEN undescribed THEN score ELSE 0.0 END)],
        ['headless', count(CASE WHEN headless THEN 1 END), sum(CASE WHEN headless THEN score ELSE 0.0 END)],
        ['slow', count(CASE WHEN slow THEN 1 END), sum(CASE WHEN slow THEN score ELSE 0.0 END)],
        ['altless', count(CASE WHEN altless THEN 1 END), sum(CASE WHEN altless THEN score ELSE 0.0 END)],
        ['mixed', count(CASE WHEN mixed THEN 1 END), sum(CASE WHEN mixed THEN score ELSE 0.0 END)],
        ['unparsed', count(CASE WHEN unparsed THEN 1 END), sum(CASE WHEN unparsed THEN score ELSE 0.0 END)]] AS rows
