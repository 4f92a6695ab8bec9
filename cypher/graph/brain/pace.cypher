// Return the pace of the crawl: visits and links reported in the last full hour and the current one, pages that these
// visits brought into the frontier and took out of it, the beginning of the counting, and the value of revisits at
// that pace.
//
// param   hour     INTEGER  the current hour, since the epoch
// column  before   LIST     [visits, links, found, left] of the last full hour
// column  now      LIST     the same of the current one
// column  began    FLOAT    when the first of these counters was begun, in seconds since the epoch; or null
// column  earlier  BOOLEAN  whether a worker counted in the hour before these
// column  price    FLOAT    or null if there were no revisits
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (c:Hour) WHERE c.hour >= $hour - 2 AND c.worker IS NOT NULL
WITH collect(c) AS counters
CALL (counters) {
  UNWIND counters AS c
  WITH c, c.hour = $hour - 2 AS early
  WITH c, early, CASE WHEN c.hour >= $hour THEN 1 ELSE 0 END AS runs, CASE WHEN early OR c.hour >= $hour THEN 0 ELSE 1 END AS full
  RETURN [sum(full * c.pages), sum(full * c.links), sum(full * c.found), sum(full * c.left)] AS before,
         [sum(runs * c.pages), sum(runs * c.links), sum(runs * c.found), sum(runs * c.left)] AS now,
         min(CASE WHEN NOT early THEN c.began END) AS began,
         count(CASE WHEN early THEN 1 END) > 0 AS earlier,
         avg(CASE WHEN NOT early THEN c.price END) AS price
}
RETURN before, now, began, earlier, price
