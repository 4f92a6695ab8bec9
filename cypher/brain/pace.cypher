// How fast the crawl goes: visits and links reported in the last full hour and the one that runs, and what visits of pages
// that were fetched before are worth at that pace.
//
// param   hour    INTEGER  the hour that runs, since the epoch
// column  before  LIST     [visits, links] of the last full hour
// column  now     LIST     [visits, links] of the one that runs
// column  price   FLOAT    or null when none were made
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (c:Hour) WHERE c.hour >= $hour - 1 AND c.worker IS NOT NULL
WITH collect(c) AS counters
CALL (counters) {
  UNWIND counters AS c
  RETURN [sum(CASE WHEN c.hour < $hour THEN c.pages ELSE 0 END), sum(CASE WHEN c.hour < $hour THEN c.links ELSE 0 END)] AS before,
         [sum(CASE WHEN c.hour >= $hour THEN c.pages ELSE 0 END), sum(CASE WHEN c.hour >= $hour THEN c.links ELSE 0 END)] AS now,
         avg(c.price) AS price
}
RETURN before, now, price
