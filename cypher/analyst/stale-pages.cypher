// Valuable pages that were not looked at for long
//
// `loss` is the page's authority times the changes to be expected since its last visit, by what is believed of its
// rate of change; where nothing is believed yet, once a month is taken. The first rows are what a recrawl should begin
// with.
//
// group     Changes
// param     days  only pages whose last visit is at least so many days ago
// param     limit  how many pages
// cost      every page
:param days => 1.0;
:param limit => 50;

MATCH (p:Page) WHERE p.state = 'known' AND p.fetched IS NOT NULL
WITH p, p.authority_history + p.authority_cash AS authority, (timestamp() / 1000.0 - p.fetched) / 86400 AS days,
     coalesce(p.rate_shape / p.rate_scale, 1.0 / 30) AS changes_a_day
WITH p, authority, days, changes_a_day WHERE days >= $days
RETURN round(days, 1) AS days, round(changes_a_day, 4) AS changes_a_day, authority, authority * days * changes_a_day AS loss,
       p.url AS url
ORDER BY loss DESC, url LIMIT $limit
