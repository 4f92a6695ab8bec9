// Pages by what decides whether search engines can index them, packed: the pages that agree in all of it are one row.
//
// param   host  STRING  only pages of this host; empty: all
// column  rows  LIST    [host, state, why it is outside or null, fails, status or null, was fetched, leads elsewhere for now,
//                       content type or null, noindex, names another as canonical, a sitemap names it, the date of its sitemap
//                       is later than any change though it was visited again, ids, their authorities, 0 of pages that have
//                       left the scope] of the pages that agree
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page) WHERE $host = '' OR p.host = $host
WITH p.host AS host, p.state AS state, p.outside_because AS outside_because,
     coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) AS fails, p.status AS status, p.first_fetched IS NOT NULL AS fetched,
     p.led_to IS NOT NULL OR p.led_by IS NOT NULL AS leads, p.content_type AS type, coalesce(p.noindex, false) AS noindex,
     coalesce(p.canonical <> p.url, false) AS canonicalised, p.in_sitemap IS NOT NULL AS listed,
     coalesce(p.hinted_by = 'sitemap' AND p.first_fetched < p.hinted AND p.fetched >= p.hinted AND p.changed < p.hinted - 86400.0,
              false) AS lies,
     collect(id(p)) AS ids,
     collect(CASE WHEN p.state = 'outside' AND p.outside_because = 'scope' THEN 0.0
                  ELSE p.authority_history + p.authority_cash END) AS authorities
RETURN collect([host, state, outside_because, fails, status, fetched, leads, type, noindex, canonicalised, listed, lies, ids,
                authorities]) AS rows
