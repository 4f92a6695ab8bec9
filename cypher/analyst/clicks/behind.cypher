// The pages from which one comes to some pages: by a redirect, or by a click, which follows a link or the address of an alias that
// a page names.
//
// param   ids          LIST     internal ids
// column  seeds        INTEGER  how many of them are seeds
// column  redirecting  LIST     internal ids of those that redirect to one of them
// column  clicking     LIST     internal ids of those that link to one of them, or name one
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
OPTIONAL MATCH (p)<-[r:LINKS|SPELLS|LEADS_TO|REDIRECTS_TO]-(q:Page)
WITH p, id(q) AS page, type(r) IN ['LEADS_TO', 'REDIRECTS_TO'] OR q.led_by IS NOT NULL AS redirects
RETURN count(CASE WHEN p.is_seed THEN 1 END) AS seeds, collect(DISTINCT CASE WHEN redirects THEN page END) AS redirecting,
       collect(DISTINCT CASE WHEN NOT redirects THEN page END) AS clicking
