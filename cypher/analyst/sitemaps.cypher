// Sitemaps, what they list, and how much their dates are worth
//
// `state` is new, read, failing or dead. Of the visits to the pages that a sitemap lists, `announced` found changes that a
// date had announced, `missed` found changes without a date, and `untrue` dates had no change; all are weighed down as time
// passes. The brain visits a page for a date the sooner, the more of its sitemap's dates are true.
//
// group     Structure
// param     host   only sitemaps of this host, or that it names; empty: all
// param     limit  how many sitemaps
// cost      every sitemap
:param host => '';
:param limit => 50;

MATCH (r:Resource {kind: 'sitemap'}) WHERE $host = '' OR r.host = $host OR $host IN coalesce(r.named_by, [])
WITH r, CASE WHEN r.dead_at IS NOT NULL THEN 'dead' WHEN r.failing_since IS NOT NULL THEN 'failing'
             WHEN r.fetched IS NULL THEN 'new' ELSE 'read' END AS state
ORDER BY coalesce(r.entries, 0) DESC, r.key LIMIT $limit
RETURN state, coalesce(r.entries, 0) AS entries, coalesce(r.is_index, false) AS is_index, r.fetched AS fetched,
       r.due_at AS due, round(coalesce(r.announced, 0.0), 1) AS announced, round(coalesce(r.untrue, 0.0), 1) AS untrue,
       round(coalesce(r.missed, 0.0), 1) AS missed, r.fault AS fault, substring(r.key, 8) AS url
ORDER BY entries DESC, url
