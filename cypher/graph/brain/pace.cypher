// How fast the crawl goes: visits and links reported in the last full hour and the one that runs, since when they are
// counted, and what visits of pages that were fetched before are worth at that pace.
//
// param   hour     INTEGER  the hour that runs, since the epoch
// column  before   LIST     [visits, links] of the last full hour
// column  now      LIST     [visits, links] of the one that runs
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
  RETURN [sum(CASE WHEN NOT early AND c.hour < $hour THEN c.pages ELSE 0 END),
          sum(CASE WHEN NOT early AND c.hour < $hour THEN c.links ELSE 0 END)] AS before,
         [sum(CASE WHEN c.hour >= $hour THEN c.pages ELSE 0 END), sum(CASE WHEN c.hour >= $hour THEN c.links ELSE 0 END)] AS now,
         min(CASE WHEN NOT early THEN coalesce(c.began, c.hour * 3600.0) END) AS began,
         count(CASE WHEN early THEN 1 END) > 0 AS earlier,
         avg(CASE WHEN NOT early THEN c.price END) AS price
}
RETURN before, now, began, earlier, price
