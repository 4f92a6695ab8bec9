// Lock pages, and read of those whose first visit has still to be learned from what it brought.
//
// param   ids   LIST  internal ids, sorted
// column  rows  LIST  [id, url, state or null where it leads elsewhere for now, was it ever fetched, canonical or null,
//                     what it shows or null, when it was visited, was it claimed to try its section, host] of each, in
//                     the order of the visits
// rows    one
// locks   the pages, in order of ids
// mode    write
// retry   safe   writes nothing
UNWIND $ids AS i
MATCH (locked:Page) WHERE id(locked) = i
SET locked:Page
WITH collect(id(locked)) AS held
UNWIND held AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.url, .state, .led_by, .first_fetched, .canonical, .shingles, .unlearned, .host, .try_at} AS m
WHERE m.unlearned IS NOT NULL
WITH page, m ORDER BY m.unlearned, page
RETURN collect([page, m.url, CASE WHEN m.led_by IS NULL THEN m.state END, m.first_fetched IS NOT NULL, m.canonical,
                m.shingles, m.unlearned, coalesce(m.try_at, 0.0) < 0.0, m.host]) AS rows
