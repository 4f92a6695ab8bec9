// Add to a worker's counters of the hour, and record that it is alive.
//
// param   hour     INTEGER  hours since the epoch
// param   worker   STRING   the worker that counts
// param   now      FLOAT    seconds since the epoch
// param   tending  BOOLEAN  true if this worker tends for all processes
// param   counts   LIST     [pages, links, claims, pushes, payments, retries] to add
// param   reports  LIST     reports of pages to add, by their outcomes in the order of OUTCOMES in graphbrain/model.py
// param   lapsed   INTEGER  lapsed leases of any kind that it has taken back, to add
// param   frontier LIST   [found, left] to add: pages that reports brought into the frontier, and took out of it
// param   kinds    MAP      by the kind of claims that are no pages (robots, sitemap, link) a map to add: claims, lapsed,
//                           reports (by their outcomes, in the same order)
// param   price    FLOAT    the value of the last revisits, or null
// rows    none
// locks   the Hour
// mode    write
// retry   once   counters are for show; a count may double when an answer is lost
MERGE (locked:Hour {hour: $hour, worker: $worker})
ON CREATE SET locked.pages = 0, locked.links = 0, locked.claims = 0, locked.pushes = 0, locked.payments = 0,
  locked.retries = 0, locked.began = $now
SET locked:Hour
WITH count(*) AS held
MATCH (c:Hour {hour: $hour, worker: $worker})
SET c.pages = c.pages + $counts[0], c.links = c.links + $counts[1], c.claims = c.claims + $counts[2],
    c.pushes = c.pushes + $counts[3], c.payments = c.payments + $counts[4], c.retries = c.retries + $counts[5],
    c.reports = [i IN range(0, size($reports) - 1) | coalesce(c.reports[i], 0) + $reports[i]],
    c.lapsed = coalesce(c.lapsed, 0) + $lapsed,
    c.found = coalesce(c.found, 0) + $frontier[0], c.left = coalesce(c.left, 0) + $frontier[1],
    c.robots_claims = coalesce(c.robots_claims, 0) + $kinds.robots.claims,
    c.robots_lapsed = coalesce(c.robots_lapsed, 0) + $kinds.robots.lapsed,
    c.robots_reports = [i IN range(0, size($reports) - 1) | coalesce(c.robots_reports[i], 0) + $kinds.robots.reports[i]],
    c.sitemap_claims = coalesce(c.sitemap_claims, 0) + $kinds.sitemap.claims,
    c.sitemap_lapsed = coalesce(c.sitemap_lapsed, 0) + $kinds.sitemap.lapsed,
    c.sitemap_reports = [i IN range(0, size($reports) - 1) | coalesce(c.sitemap_reports[i], 0) + $kinds.sitemap.reports[i]],
    c.link_claims = coalesce(c.link_claims, 0) + $kinds.link.claims,
    c.link_lapsed = coalesce(c.link_lapsed, 0) + $kinds.link.lapsed,
    c.link_reports = [i IN range(0, size($reports) - 1) | coalesce(c.link_reports[i], 0) + $kinds.link.reports[i]],
    c.seen = $now, c.price = coalesce($price, c.price), c.tends_until = CASE WHEN $tending THEN $now + 15 ELSE null END
