// How lively each host is
//
// Of the visits that came after a page's first, `share` found the page changed. `pages` counts those visited twice or
// more.
//
// group     Changes
// param     limit  how many hosts
// cost      every page
:param limit => 50;

MATCH (p:Page) WHERE p.visits > 1
WITH p.host AS host, count(*) AS pages, sum(p.visits - 1) AS visits_again, sum(coalesce(p.changes, 0)) AS changes,
     avg(p.rate_shape / p.rate_scale) AS changes_a_day
RETURN host, pages, visits_again, changes, round(1.0 * changes / visits_again, 3) AS share, round(changes_a_day, 4) AS changes_a_day
ORDER BY visits_again DESC, host LIMIT $limit
