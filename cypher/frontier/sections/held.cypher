// Pages of a host that were never fetched and count for less.
//
// param   host        STRING   its name
// column  id          INTEGER  internal
// column  url         STRING   its address
// column  harvest     FLOAT    the factor that it waits with
// column  is_waiting  BOOLEAN  does it wait in a queue?
// column  lane        INTEGER  where
// column  since       FLOAT    since when
// column  is_chosen   BOOLEAN  was it chosen to try its section?
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.host = $host AND p.harvest < 1.0 AND p.first_fetched IS NULL
RETURN id(p) AS id, p.url AS url, p.harvest AS harvest, p.queue IS NOT NULL AS is_waiting, p.lane AS lane,
       p.waiting_since AS since, p.try_at IS NOT NULL AS is_chosen
