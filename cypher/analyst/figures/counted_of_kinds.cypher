// What all workers have counted in some hours of claims that are no pages.
//
// param   first    INTEGER  the first of these hours, since the epoch
// param   last     INTEGER  the last
// param   kinds    LIST     kinds of claims: robots, sitemap, link
// param   outcomes INTEGER  the number of OUTCOMES in graphbrain/model.py
// column  rows     LIST     of each kind, in the order given: [claims, lapsed, reports by their outcomes in that order]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range(0, size($kinds) - 1) AS place
CALL (place) {
  OPTIONAL MATCH (c:Hour) WHERE c.hour >= $first AND c.hour <= $last AND c.worker IS NOT NULL
  WITH c, $kinds[place] AS kind
  UNWIND range(0, $outcomes - 1) AS outcome
  WITH outcome, sum(c[kind + '_claims']) AS claims, sum(c[kind + '_lapsed']) AS lapsed,
       sum(c[kind + '_reports'][outcome]) AS reports
  ORDER BY outcome
  RETURN max(claims) AS claims, max(lapsed) AS lapsed, collect(reports) AS reports
}
WITH place, claims, lapsed, reports ORDER BY place
RETURN collect([claims, lapsed, reports]) AS rows
