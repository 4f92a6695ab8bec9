// What all workers have counted in some hours.
//
// param   first   INTEGER  the first of these hours, since the epoch
// param   last    INTEGER  the last
// column  counts  LIST     [pages, links, claims, pushes, payments, retries, lapsed, found, left]
// column  reports LIST     reports by their outcomes, in the order of OUTCOMES in graphbrain/model.py
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (c:Hour) WHERE c.hour >= $first AND c.hour <= $last AND c.worker IS NOT NULL
RETURN [coalesce(sum(c.pages), 0), coalesce(sum(c.links), 0), coalesce(sum(c.claims), 0), coalesce(sum(c.pushes), 0),
        coalesce(sum(c.payments), 0), coalesce(sum(c.retries), 0), coalesce(sum(c.lapsed), 0), coalesce(sum(c.found), 0),
        coalesce(sum(c.left), 0)] AS counts,
       [coalesce(sum(c.reports[0]), 0), coalesce(sum(c.reports[1]), 0), coalesce(sum(c.reports[2]), 0),
        coalesce(sum(c.reports[3]), 0), coalesce(sum(c.reports[4]), 0), coalesce(sum(c.reports[5]), 0),
        coalesce(sum(c.reports[6]), 0), coalesce(sum(c.reports[7]), 0)] AS reports
