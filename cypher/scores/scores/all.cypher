// Return the rankings whose scores the pages carry, with their parameters and figures.
//
// column  rankings  LIST  all properties of each (:Ranking), the latest first
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (r:Ranking)
WITH r ORDER BY r.started DESC, r.method
RETURN collect(properties(r)) AS rankings
