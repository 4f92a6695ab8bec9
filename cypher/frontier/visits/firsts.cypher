// What the second visits of pages in a range of ids found.
//
// param   first  INTEGER  the first id
// param   end    INTEGER  the id after the last
// param   value  STRING   what pages are worth: authority, hub, or else a property
// param   name   STRING   that property
// column  rows   LIST     [host, days, changed, value, relevance, weight]; days after the first visit, relevance or null
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE id(p) >= $first AND id(p) < $end AND p.first_interval IS NOT NULL
WITH p, CASE $value WHEN 'authority' THEN p.authority_history + p.authority_cash
                    WHEN 'hub' THEN p.hub_history + p.hub_cash ELSE coalesce(p[$name], 1.0) END AS value
RETURN collect([p.host, p.first_interval, coalesce(p.first_changed, false), value, p.relevance,
                coalesce(p.url_weight, 1.0)]) AS rows
