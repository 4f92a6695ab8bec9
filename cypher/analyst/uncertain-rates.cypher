// Pages of whose rate of change little is known
//
// What is believed of a rate is a Gamma distribution: its mean is `changes_a_day`, and `uncertainty` its standard
// deviation over its mean, 1/√shape. More visits make it smaller. Sorted by authority times uncertainty. Pages appear
// from their second visit on.
//
// group     Changes
// param     limit  how many pages
// cost      every page
:param limit => 50;

MATCH (p:Page) WHERE p.rate_shape > 0
WITH p, p.authority_history + p.authority_cash AS authority, 1 / sqrt(p.rate_shape) AS uncertainty
RETURN round(p.rate_shape / p.rate_scale, 4) AS changes_a_day, round(uncertainty, 2) AS uncertainty, p.visits AS visits,
       p.changes AS changes, authority, p.url AS url
ORDER BY authority * uncertainty DESC, url LIMIT $limit
