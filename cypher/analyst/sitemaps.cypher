// Sitemaps, what they list, and how much their dates are worth
//
// `state` is new, read, failing or dead. `dated` visits came after a date of the sitemap; `dated_changes` of them found a
// change, and `by_chance` of them would have found one without a date, by the rates of change of the pages. `true_share`
// follows from these: the share of the dates that are true. `missed` visits found a change without a date. Older visits
// weigh less. The brain visits a page for a date the sooner, the more of its sitemap's dates are true.
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
       r.due_at AS due, round(coalesce(r.dated, 0.0), 1) AS dated,
       round(coalesce(r.dated_changes, 0.0), 1) AS dated_changes, round(coalesce(r.by_chance, 0.0), 1) AS by_chance,
       round(coalesce(r.missed, 0.0), 1) AS missed,
       CASE WHEN r.dated - r.by_chance < 0.01 THEN null
            WHEN r.dated_changes < r.by_chance THEN 0.0
            WHEN r.dated_changes > r.dated THEN 1.0
            ELSE round((r.dated_changes - r.by_chance) / (r.dated - r.by_chance), 2) END AS true_share,
       r.fault AS fault, substring(r.key, 8) AS url
ORDER BY entries DESC, url
