// How fast the crawl goes: visits and links reported in the last full hour and the one that runs, pages that came into
// the frontier and left it by them, since when they are counted, and what visits of pages that were fetched before are
// worth at that pace.
//
// param   hour     INTEGER  the hour that runs, since the epoch
// column  before   LIST     [visits, links, found, left, visits of those who do not count these] of the last full hour
// column  now      LIST     the same of the one that runs
// column  began    FLOAT    when the first of these counters was begun, in seconds since the epoch; or null
// column  earlier  BOOLEAN  whether something was counted in the hour before these, too
// column  price    FLOAT    or null when none were made
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (c:Hour) WHERE c.hour >= $hour - 2 AND c.worker IS NOT NULL
WITH collect(c) AS counters
CALL (counters) {
  UNWIND counters AS c
  WITH c, c.hour = $hour - 2 AS early
  WITH c, early, CASE WHEN c.hour >= $hour THEN 1 ELSE 0 END AS runs, CASE WHEN early OR c.hour >= $hour THEN 0 ELSE 1 END AS full,
       CASE WHEN c.found IS NULL THEN c.pages ELSE 0 END AS uncounted
  RETURN [sum(full * c.pages), sum(full * c.links), sum(full * coalesce(c.found, 0)), sum(full * coalesce(c.left, 0)),
          sum(full * uncounted)] AS before,
         [sum(runs * c.pages), sum(runs * c.links), sum(runs * coalesce(c.found, 0)), sum(runs * coalesce(c.left, 0)),
          sum(runs * uncounted)] AS now,
         min(CASE WHEN NOT early THEN coalesce(c.began, c.hour * 3600.0) END) AS began,
         count(CASE WHEN early THEN 1 END) > 0 AS earlier,
         avg(CASE WHEN NOT early THEN c.price END) AS price
}
RETURN before, now, began, earlier, price
