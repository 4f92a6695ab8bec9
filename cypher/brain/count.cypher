// Add to a worker's counters of the hour, and show that it lives.
//
// param   hour     INTEGER  hours since the epoch
// param   worker   STRING   who counts
// param   now      FLOAT    seconds since the epoch
// param   tending  BOOLEAN  true when this is a worker that tends for everybody
// param   counts   LIST     [pages, links, claims, pushes, payments, retries] to add
// param   price    FLOAT    what the last visits were worth that were not first ones, or null
// rows    none
// locks   the Hour
// mode    write
// retry   once   counters are for show; a count may double when an answer is lost
MERGE (c:Hour {hour: $hour, worker: $worker})
ON CREATE SET c.pages = 0, c.links = 0, c.claims = 0, c.pushes = 0, c.payments = 0, c.retries = 0
SET c.pages = c.pages + $counts[0], c.links = c.links + $counts[1], c.claims = c.claims + $counts[2],
    c.pushes = c.pushes + $counts[3], c.payments = c.payments + $counts[4], c.retries = c.retries + $counts[5],
    c.seen = $now, c.price = coalesce($price, c.price), c.tends_until = CASE WHEN $tending THEN $now + 15 ELSE null END
